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
  Type type;  ///< type of the value, or of all values of a list
  bool is_list = false;
  std::vector<std::string> words;  ///< the value as on the command line; a boolean is "true" or "false"
  std::string place;               ///< position of the value: "FILE, line N, column M"
};

/// Contents of a configuration file: settings by name, and [[export]] tables.
struct ConfigurationFile {
  struct Export {
    std::string word;  ///< value of --export: KIND:TARGET,OPTION=VALUE
    std::string place;
  };

  std::vector<ConfiguredSetting> settings;
  std::vector<Export> exports;
};

/// Parses TOML. `name` is the file's name in errors. Fails on invalid TOML, on tables other than [[export]], on values
/// of a type that no setting has, and on an [[export]] without a kind and a target.
Result<ConfigurationFile> parse_configuration(std::string_view text, const std::string& name);

/// Returns why the value is invalid for a setting, if it is. `takes` is the kind of value according to the help: "" for
/// a flag, COUNT, NUMBER, TIME, or any text.
std::optional<Error> type_problem(const ConfiguredSetting& setting, std::string_view takes, bool takes_list);

/// Returns what else than [[export]] tables has changed, if anything. `name` is the file's name in errors.
std::optional<Error> change_problem(const ConfigurationFile& before, const ConfigurationFile& now,
                                    const std::string& name);

}  // namespace parshall
