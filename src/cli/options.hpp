// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace parshall::cli {

/// Condition on an option's words. Passed by value; cheap to copy.
class Check {
 public:
  struct Rule;
  explicit Check(std::shared_ptr<const Rule> rule) noexcept : rule_(std::move(rule)) {}
  const Rule& rule() const noexcept { return *rule_; }

  /// Returns true if these words pass.
  bool passes(const std::string& words) const;

 private:
  std::shared_ptr<const Rule> rule_;
};

/// Checks that a number is from `least` to `most`, both included. T: int, unsigned, std::uint16_t, std::size_t,
/// std::int64_t or double.
template <class T>
Check in_range(T least, T most);
/// Checks that a word is one of these. `where` names the command that lists them, such as "parshall list"; may be
/// empty.
Check among(std::vector<std::string> words, std::string where = "");
Check among(std::initializer_list<int> numbers);
Check non_negative();
Check positive();

/// An option of a command: a handle to CLI11's object. Calls can be chained with ->.
///
/// Only one file of this folder includes CLI11, which takes as long to compile as everything else in a file of options.
class Option {
 public:
  explicit Option(CLI::Option* option) noexcept : option_(option) {}
  Option* operator->() noexcept { return this; }

  Option group(const std::string& name);
  Option required();
  Option delimiter(char between);
  Option allow_extra_args(bool allow);
  Option expected(int words);
  Option capture_default_str();
  Option check(const Check& check);
  Option takes(const std::string& what);  ///< name of its argument in help
  Option needs(Option other);
  Option excludes(Option other);

  /// Returns how often the option was given.
  std::size_t count() const;

 private:
  friend class Command;
  CLI::Option* option_;
};

/// An option's value that stood right before a word that belongs to no option.
struct ValueBefore {
  std::string option, value;
  std::string takes;  ///< as help calls it
  bool is_list = false;
};

/// A command, or the program itself: also a handle.
class Command {
 public:
  explicit Command(CLI::App* app) noexcept : app_(app) {}
  Command* operator->() noexcept { return this; }

  Command add_subcommand(const std::string& name, const std::string& help);

  /// Adds an option. T: std::string, a number, or a std::vector of them. The value given is stored in `value`, which
  /// must outlive parsing.
  template <class T>
  Option add_option(const std::string& names, T& value, const std::string& help);
  /// Adds an option whose words all go to `take`.
  Option add_option(const std::string& names, std::function<void(const std::vector<std::string>&)> take,
                    const std::string& help);
  Option add_flag(const std::string& names, bool& value, const std::string& help);

  Command footer(const std::string& text);

  /// Makes --help show only these options and positionals, and adds --help-all, which shows all. `names` are without
  /// dashes, and static.
  Command short_help(std::span<const std::string_view> names);
  Command callback(std::function<void()> run);
  Command require_subcommand(int count);
  Command fallthrough();

  /// Returns the value in front of the first word of `positional`, once parsed; nothing where none is there.
  std::optional<ValueBefore> value_before(const Option& positional) const;

 private:
  CLI::App* app_;
};

/// Parses options in a text that is not the program's command line.
class WordParser {
 public:
  WordParser();
  ~WordParser();
  WordParser(const WordParser&) = delete;
  WordParser& operator=(const WordParser&) = delete;

  Command command() noexcept;
  /// Parses words, split as in a shell.
  std::optional<Error> parse(const std::string& words);
  /// Returns how often the option of this name was given.
  std::size_t count(const std::string& option) const;

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace parshall::cli
