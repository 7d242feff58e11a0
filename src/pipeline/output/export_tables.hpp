// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace parshall {

/// A configuration in two parts: its [[export]] tables, as words of --export, and all else.
struct SplitConfiguration {
  std::string rest;                  ///< as it was, with empty lines in place of the tables
  std::vector<std::string> exports;  ///< KIND:TARGET,OPTION=VALUE
};

/// Each table has a `kind`, a `target`, and options. `name` is what errors call the file. Fails on tables that are no
/// TOML, or lack one of these.
Result<SplitConfiguration> split_exports(std::string_view text, const std::string& name);

/// Of a file, again: only its tables may be others than they were. `rest` is what else was there at first. Fails as
/// well where it cannot be read, or where something else is there now.
Result<std::vector<std::string>> read_exports(const std::string& path, std::string_view rest);

}  // namespace parshall
