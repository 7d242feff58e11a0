// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace CLI {
class App;
}  // namespace CLI

namespace parshall::cli {

/// What a program called with this word alone prints: what `described()` says of it. Not in --help, since it is for
/// what makes manual pages and completions (tools/option_tree.py), and not for people.
inline constexpr const char* kDescribe = "--describe-options";

/// A program as JSON: its options, its commands and theirs, as --help shows them, in the same order. An option's
/// `words` are how many it takes, with "more" for any number; a command that another program is has that `program`.
std::string described(const CLI::App& app);

}  // namespace parshall::cli
