// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace parshall {

/// One `name = value` of a configuration file.
struct ConfiguredSetting {
  enum class Type { text, integer, real, boolean };

  std::string name;
  Type type;  ///< of the value, or of all values of a list
  bool is_list = false;
  std::vector<std::string> words;  ///< the value as the command line would have it; a boolean is "true" or "false"
  std::string place;               ///< of the value: "FILE, line N, column M"
};

/// A configuration: settings by name, and [[export]] tables.
struct ConfigurationFile {
  struct Export {
    std::string word;  ///< of --export: KIND:TARGET,OPTION=VALUE
    std::string place;
  };

  std::vector<ConfiguredSetting> settings;
  std::vector<Export> exports;
};

/// Reads TOML. `name` is what errors call the file. Fails on a text that is no TOML, on tables other than [[export]],
/// on values that no setting has, and on an [[export]] without a kind and a target.
Result<ConfigurationFile> parse_configuration(std::string_view text, const std::string& name);

/// Returns why the value is none for a setting, or nothing. `takes` is what help says that it takes: "" for a flag,
/// COUNT, NUMBER, TIME, or any text.
std::optional<Error> type_problem(const ConfiguredSetting& setting, std::string_view takes, bool takes_list);

/// Returns what else than [[export]] tables is not as it was, or nothing. `name` is what errors call the file.
std::optional<Error> change_problem(const ConfigurationFile& before, const ConfigurationFile& now,
                                    const std::string& name);

}  // namespace parshall
