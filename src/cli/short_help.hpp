// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <string_view>

namespace parshall::cli {

/// Help of a command with many options: --help shows one line for each of the named options, and --help-all shows all.
class ShortHelp : public CLI::Formatter {
 public:
  /// `names` are those of options without dashes, and of positionals. Static.
  ShortHelp(const CLI::Formatter& base, std::span<const std::string_view> names)
      : CLI::Formatter(base), names_(names) {}

  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;

 private:
  bool shows(const CLI::Option& option) const;

  std::span<const std::string_view> names_;
};

}  // namespace parshall::cli
