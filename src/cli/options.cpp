// SPDX-License-Identifier: Apache-2.0
#include "cli/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "base/parse.hpp"
#include "base/suggestion.hpp"
#include "cli/short_help.hpp"

namespace parshall::cli {

struct Check::Rule {
  CLI::Validator validator;
};

namespace {

/// Checks the range of doubles in place of CLI11, whose messages lack digits.
CLI::Validator number_check(const char* name, const char* what_not, bool (*is_good)(double)) {
  return CLI::Validator(
      [what_not, is_good](std::string& text) {
        double value = 0;
        const bool is_number = CLI::detail::lexical_cast(text, value);
        return is_number && is_good(value) ? std::string()
                                           : text + (is_number ? " is " + std::string(what_not) : " is not a number");
      },
      name);
}

/// Rejects negative numbers, since CLI11 converts -1 to the largest number.
CLI::Validator unsigned_check() {
  return CLI::Validator([](std::string& text) { return text.starts_with('-') ? text + " is below 0" : std::string(); },
                        "");
}

/// Makes 5000 of 5k, as counts are read elsewhere.
CLI::Validator with_unit() {
  return CLI::Validator(
      [](std::string& text) {
        const bool has_unit = !text.empty() && std::isalpha(static_cast<unsigned char>(text.back())) != 0;
        if (const auto count = has_unit ? parse_count(text) : std::nullopt) text = std::to_string(*count);
        return std::string();
      },
      "");
}

Check check_of(CLI::Validator validator) {
  return Check(std::make_shared<const Check::Rule>(Check::Rule{std::move(validator)}));
}

}  // namespace

bool Check::passes(const std::string& words) const {
  std::string changed = words;  // validators may change it
  return rule_->validator(changed).empty();
}

template <class T>
Check in_range(T least, T most) {
  return check_of(CLI::Range(least, most).operation([least, most](std::string& text) {
    T value{};
    const bool is_in = CLI::detail::lexical_cast(text, value) && value >= least && value <= most;
    return is_in ? std::string() : fmt::format("{}: give a number from {} to {}", text, least, most);
  }));
}
template Check in_range(int, int);
template Check in_range(unsigned, unsigned);
template Check in_range(std::uint16_t, std::uint16_t);
template Check in_range(std::size_t, std::size_t);
template Check in_range(std::int64_t, std::int64_t);
template Check in_range(double, double);

Check among(std::vector<std::string> words, std::string where) {
  const std::string name = fmt::format("{{{}}}", fmt::join(words, ","));
  return check_of(CLI::Validator(
      [words = std::move(words), where = std::move(where)](std::string& text) {
        if (std::ranges::find(words, text) != words.end()) return std::string();
        return fmt::format("there is no {}{}", text, suggestion(text, words, where));
      },
      name));
}
Check among(std::initializer_list<int> numbers) { return check_of(CLI::IsMember(std::vector<int>(numbers))); }
Check non_negative() {
  return check_of(number_check("NONNEGATIVE", "below 0", [](double value) { return value >= 0; }));
}
Check positive() {
  return check_of(number_check("POSITIVE", "0 or below", [](double value) { return value > 0; }));
}

Option Option::group(const std::string& name) { return Option(option_->group(name)); }
Option Option::required() { return Option(option_->required()); }
Option Option::delimiter(char between) { return Option(option_->delimiter(between)); }
Option Option::allow_extra_args(bool allow) { return Option(option_->allow_extra_args(allow)); }
Option Option::expected(int words) { return Option(option_->expected(words)); }
Option Option::capture_default_str() { return Option(option_->capture_default_str()); }
Option Option::check(const Check& check) { return Option(option_->check(check.rule().validator)); }
Option Option::takes(const std::string& what) { return Option(option_->type_name(what)); }
Option Option::needs(Option other) { return Option(option_->needs(other.option_)); }
Option Option::excludes(Option other) { return Option(option_->excludes(other.option_)); }
std::size_t Option::count() const { return option_->count(); }

Command Command::add_subcommand(const std::string& name, const std::string& help) {
  return Command(app_->add_subcommand(name, help));
}

namespace {

/// Type as which one word of an option is read. A text is one word, although it consists of characters.
template <class T>
struct ValueOf {
  using Type = T;
};
template <class T>
requires(!std::same_as<T, std::string>) && requires { typename T::value_type; }
struct ValueOf<T> {
  using Type = typename T::value_type;
};

}  // namespace

template <class T>
Option Command::add_option(const std::string& names, T& value, const std::string& help) {
  CLI::Option* const option = app_->add_option(names, value, help);
  using Value = typename ValueOf<T>::Type;
  if constexpr (std::is_unsigned_v<Value>) option->check(unsigned_check());
  if constexpr (std::is_integral_v<Value>) option->transform(with_unit());
  return Option(option);
}
template Option Command::add_option(const std::string&, std::string&, const std::string&);
template Option Command::add_option(const std::string&, std::optional<std::string>&, const std::string&);
template Option Command::add_option(const std::string&, std::optional<double>&, const std::string&);
template Option Command::add_option(const std::string&, std::optional<std::size_t>&, const std::string&);
template Option Command::add_option(const std::string&, int&, const std::string&);
template Option Command::add_option(const std::string&, unsigned&, const std::string&);
template Option Command::add_option(const std::string&, std::uint16_t&, const std::string&);
template Option Command::add_option(const std::string&, std::size_t&, const std::string&);
template Option Command::add_option(const std::string&, std::int64_t&, const std::string&);
template Option Command::add_option(const std::string&, double&, const std::string&);
template Option Command::add_option(const std::string&, std::vector<std::string>&, const std::string&);
template Option Command::add_option(const std::string&, std::vector<int>&, const std::string&);
template Option Command::add_option(const std::string&, std::vector<unsigned>&, const std::string&);
template Option Command::add_option(const std::string&, std::vector<std::size_t>&, const std::string&);
template Option Command::add_option(const std::string&, std::vector<double>&, const std::string&);

Option Command::add_option(const std::string& names, std::function<void(const std::vector<std::string>&)> take,
                           const std::string& help) {
  return Option(app_->add_option_function<std::vector<std::string>>(names, take, help));
}
Option Command::add_flag(const std::string& names, bool& value, const std::string& help) {
  return Option(app_->add_flag(names, value, help));
}
Command Command::footer(const std::string& text) { return Command(app_->footer(text)); }
Command Command::short_help(std::span<const std::string_view> names) {
  const auto base = std::dynamic_pointer_cast<CLI::Formatter>(app_->get_formatter());
  app_->formatter(std::make_shared<ShortHelp>(base ? *base : CLI::Formatter(), names));
  app_->set_help_all_flag("--help-all", "Print all options");
  return *this;
}
Command Command::callback(std::function<void()> run) { return Command(app_->callback(std::move(run))); }
Command Command::require_subcommand(int count) { return Command(app_->require_subcommand(count)); }
std::optional<ValueBefore> Command::value_before(const Option& positional) const {
  const auto& order = app_->parse_order();
  const auto found = std::ranges::find(order, positional.option_);
  if (found == order.begin() || found == order.end()) return std::nullopt;
  const CLI::Option& before = **(found - 1);
  if (before.get_positional() || before.get_items_expected_max() == 0) return std::nullopt;
  const bool is_list = before.get_delimiter() != '\0';
  return ValueBefore{.option = before.get_name(),
                     .value = is_list ? fmt::format("{}", fmt::join(before.results(), ",")) : before.results().back(),
                     .takes = before.get_type_name(),
                     .is_list = is_list};
}
Command Command::fallthrough() { return Command(app_->fallthrough()); }

WordParser::WordParser() : app_(std::make_unique<CLI::App>()) {}
WordParser::~WordParser() = default;
Command WordParser::command() noexcept { return Command(app_.get()); }
std::optional<Error> WordParser::parse(const std::string& words) {
  try {
    app_->parse(words);
  } catch (const CLI::ParseError& problem) {
    return Error{problem.what()};
  }
  return std::nullopt;
}
std::size_t WordParser::count(const std::string& option) const { return app_->count(option); }

}  // namespace parshall::cli
