// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <ctime>
#include <memory>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "pipeline/output/output.hpp"

namespace parshall {

/// Returns what is wrong with a file's name, if anything.
std::optional<Error> target_problem(const std::string& target);

/// Returns whether the name contains a time, so that the file's name differs each time it is begun.
bool has_time(const std::string& target);

/// Returns the name of a file begun at `time` (UTC). %Y, %m, %d, %j, %H, %M and %S in the last part of its path mean
/// the same as in strftime(); %% is a %. Requires that target_problem() finds none.
std::string name_at(std::time_t time, const std::string& target);

/// Opens the file of an output, which continues after the disk was full. Old contents are discarded, unless the name
/// has a time. In that case the new file's name gets a number (flows-20260102.csv, flows-20260102-2.csv) if the old one
/// is not empty.
Result<std::unique_ptr<Output>> open_target(const std::string& target);

}  // namespace parshall
