// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace parshall::cli {

/// What an option's words have to be. By value; cheap to copy.
class Check {
 public:
  struct Rule;
  explicit Check(std::shared_ptr<const Rule> rule) noexcept : rule_(std::move(rule)) {}
  const Rule& rule() const noexcept { return *rule_; }

  /// Whether these words pass.
  bool passes(const std::string& words) const;

 private:
  std::shared_ptr<const Rule> rule_;
};

/// From `least` to `most`, both included. T: int, unsigned, std::uint16_t, std::size_t, std::int64_t or double.
template <class T>
Check in_range(T least, T most);
/// One of these. `where` says where they are listed, such as "parshall list", and may be empty.
Check among(std::vector<std::string> words, std::string where = "");
Check among(std::initializer_list<int> numbers);
Check non_negative();
Check positive();

/// An option of a command: a handle, which CLI11 holds the substance of. Calls follow each other by ->.
///
/// CLI11 is parsed in one file of this folder only: it takes as long as all else in a file of options.
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
  Option takes(const std::string& what);  ///< as help calls it
  Option needs(Option other);
  Option excludes(Option other);

  /// How often it was given.
  std::size_t count() const;

 private:
  CLI::Option* option_;
};

/// A command, or the program itself: a handle likewise.
class Command {
 public:
  explicit Command(CLI::App* app) noexcept : app_(app) {}
  Command* operator->() noexcept { return this; }

  Command add_subcommand(const std::string& name, const std::string& help);

  /// T: std::string, a number, or a std::vector of them. What is given lands in `value`, which has to outlive parsing.
  template <class T>
  Option add_option(const std::string& names, T& value, const std::string& help);
  /// `take` gets all the words that it was given with.
  Option add_option(const std::string& names, std::function<void(const std::vector<std::string>&)> take,
                    const std::string& help);
  Option add_flag(const std::string& names, bool& value, const std::string& help);

  Command footer(const std::string& text);
  Command callback(std::function<void()> run);
  Command require_subcommand(int count);
  Command fallthrough();

 private:
  CLI::App* app_;
};

/// Options of their own, for words that are not the program's command line.
class WordParser {
 public:
  WordParser();
  ~WordParser();
  WordParser(const WordParser&) = delete;
  WordParser& operator=(const WordParser&) = delete;

  Command command() noexcept;
  /// As a shell would split them.
  std::optional<Error> parse(const std::string& words);
  /// How often the option of this name was given.
  std::size_t count(const std::string& option) const;

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace parshall::cli
