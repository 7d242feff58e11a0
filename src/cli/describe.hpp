// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace CLI {
class App;
}  // namespace CLI

namespace parshall::cli {

/// Option that makes a program print described(). It is not in --help, since it serves the tools that make manual pages
/// and completions (tools/option_tree.py).
inline constexpr const char* kDescribe = "--describe-options";

/// Describes a program as JSON: its options and all subcommands, with the text and order of --help. An option's `words`
/// is the number of its arguments, with "more" for any number. A command that another program implements has that
/// `program`.
std::string described(const CLI::App& app);

}  // namespace parshall::cli
