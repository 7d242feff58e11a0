// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "base/result.hpp"
#include "parshall/plan.hpp"

namespace parshall::cli {

/// Decides what the first word of a command line means. Without -r, -i or -g it is the source: "-" for standard input,
/// else an existing file, else an interface or a device. With one of these options it is the first word of the filter.
/// Error: nothing has that name; the message suggests what would work in `command`, such as "watch".
std::optional<Error> place_first_word(const std::string& word, const std::string& command, SourcePlan& source);

/// Returns true if a file, an interface or a device has this name.
bool is_source(const std::string& name);

/// Returns true if these are interfaces of this host: one, several with commas between them, or any.
bool are_interfaces(const std::string& names);

/// Returns what is wrong with a source as it was named by an option: a file where an interface goes, or the other way
/// round.
std::optional<Error> source_problem(const SourcePlan& source);

/// Returns an error that suggests other files, if `command` cannot find the file to send. Returns nullopt for "-".
std::optional<Error> missing_file_problem(const std::string& path);

}  // namespace parshall::cli
