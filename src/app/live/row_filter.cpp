// SPDX-License-Identifier: Apache-2.0
#include "app/live/row_filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <functional>
#include <string_view>
#include <utility>

#include "base/networks.hpp"
#include "base/parse.hpp"
#include "base/suggestion.hpp"
#include "pipeline/output/format.hpp"

namespace parshall::live {
namespace {

enum class End : std::uint8_t { any, source, destination };

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char each) { return std::tolower(each); });
  return text;
}

/// Splits a filter into words, comparisons and brackets.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == ' ') {
      ++at;
      continue;
    }
    std::size_t end = at + 1;
    if (std::string_view("<>=!").find(c) != std::string_view::npos)
      end += end < text.size() && text[end] == '=';
    else if (c != '(' && c != ')')
      while (end < text.size() && std::string_view(" <>=!()").find(text[end]) == std::string_view::npos) ++end;
    words.push_back(lower(text.substr(at, end - at)));
    at = end;
  }
  return words;
}

std::optional<std::uint16_t> port_of(const std::string& word) {
  std::uint16_t port = 0;
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), port);
  if (problem != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return port;
}

std::optional<std::uint8_t> protocol_of(const std::string& word) {
  for (int number = 0; number < 256; ++number) {
    const std::string name = lower(protocol_text(static_cast<std::uint8_t>(number)));
    if (name == word || std::to_string(number) == word) return static_cast<std::uint8_t>(number);
  }
  return std::nullopt;
}

std::optional<double> number_of(const std::string& word) {
  if (const auto count = parse_count(word)) return static_cast<double>(*count);
  double number = 0;
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (problem != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return number;
}

/// Returns how a word compares two numbers, or null.
std::function<bool(double, double)> comparison_of(std::string_view word) {
  if (word == ">") return std::greater<>();
  if (word == "<") return std::less<>();
  if (word == ">=") return std::greater_equal<>();
  if (word == "<=") return std::less_equal<>();
  if (word == "=" || word == "==") return std::equal_to<>();
  if (word == "!=") return std::not_equal_to<>();
  return nullptr;
}

}  // namespace

/// Parses by recursive descent. The first problem ends it.
class RowFilter::Parser {
 public:
  Parser(const std::string& text, const std::vector<FilterColumn>& columns, const KeyParts& parts)
      : words_(words_of(text)), columns_(columns), parts_(parts) {}

  Result<Test> parse() {
    Test test = either();
    if (problem_.empty() && at_ < words_.size()) wrong(fmt::format("\"{}\" is one bracket too many", words_[at_]));
    if (!problem_.empty()) return Error{problem_};
    return test;
  }

 private:
  std::string_view word() const noexcept { return at_ < words_.size() ? words_[at_] : std::string_view(); }
  bool take(std::string_view wanted) noexcept {
    if (word() != wanted) return false;
    ++at_;
    return true;
  }
  Test wrong(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
    at_ = words_.size();
    return nullptr;
  }

  Test either() {
    Test left = both();
    while (problem_.empty() && take("or")) {
      Test right = both();
      left = [left, right](const FilteredRow& row) { return left(row) || right(row); };
    }
    return left;
  }

  Test both() {
    Test left = one();
    while (problem_.empty() && at_ < words_.size() && word() != "or" && word() != ")") {
      take("and");
      Test right = one();
      left = [left, right](const FilteredRow& row) { return left(row) && right(row); };
    }
    return left;
  }

  Test one() {
    if (take("not") || take("!")) {
      Test test = one();
      return [test](const FilteredRow& row) { return !test(row); };
    }
    if (!take("(")) return term();
    Test test = either();
    if (problem_.empty() && !take(")")) return wrong("a closing bracket is missing");
    return test;
  }

  Test term() {
    if (at_ == words_.size()) return wrong("the filter ends too early");
    const End end = take("src") ? End::source : take("dst") ? End::destination : End::any;
    if (take("host") || take("net")) return networks(next("an address", "host 192.0.2.1"), end);
    if (take("port")) return port(next("a port", "port 53"), end);
    if (take("proto")) return protocol(next("a protocol", "proto tcp"));
    if (end != End::any) return wrong("src and dst stand before host, net or port");
    const std::string first = words_[at_++];
    if (const auto column = std::ranges::find(columns_, first, &FilterColumn::name); column != columns_.end()) {
      if (column->texts != nullptr) return texts(*column);
      return first == "vlan" && comparison_of(word()) == nullptr ? vlan(*column) : comparison(*column);
    }
    if (first == "vlan") return lack(parts_.rows == "flows" ? "VLAN: --columns +vlan adds it" : "VLAN");
    if (Networks::parse(std::span(&first, 1))) return networks(first, end);
    if (port_of(first) == std::nullopt && protocol_of(first)) return protocol(first);
    if (port_of(first.substr(first.find_first_not_of(':') == 1 ? 1 : 0)))
      return wrong(
          fmt::format("\"{0}\" is no word of a filter; is it port {1}?", first, first.substr(first[0] == ':')));
    std::vector<std::string> names{"host", "net", "port", "proto", "vlan", "and", "or", "not"};
    for (const FilterColumn& column : columns_) names.push_back(column.name);
    return wrong(fmt::format("\"{}\" is no word of a filter{}", first, suggestion(first, names)));
  }

  std::string next(std::string_view what, std::string_view example) {
    if (at_ < words_.size()) return words_[at_++];
    wrong(fmt::format("{} is missing, such as {}", what, example));
    return {};
  }

  Test lack(std::string_view part) { return wrong(fmt::format("{} have no {}", parts_.rows, part)); }

  Test networks(const std::string& text, End end) {
    auto parsed = Networks::parse(std::span(&text, 1));
    if (!parsed) return wrong(fmt::format("\"{}\" is no address or network, such as 192.0.2.1 or 10.0.0.0/8", text));
    if (parts_.addresses == 0) return lack("address");
    if (parts_.addresses == 1) end = End::source;
    return [networks = *std::move(parsed), end](const FilteredRow& row) {
      return (end != End::destination && networks.contain(row.key.src_address())) ||
             (end != End::source && networks.contain(row.key.dst_address()));
    };
  }

  Test port(const std::string& text, End end) {
    const auto number = port_of(text);
    if (!number) return wrong(fmt::format("\"{}\" is no port, such as 53", text));
    if (parts_.ports == 0) return lack("port");
    if (parts_.ports == 1) end = End::source;
    return [port = *number, end](const FilteredRow& row) {
      return (end != End::destination && row.key.src_port() == port) ||
             (end != End::source && row.key.dst_port() == port);
    };
  }

  Test protocol(const std::string& text) {
    const auto number = protocol_of(text);
    if (!number) return wrong(fmt::format("\"{}\" is no protocol, such as tcp or 47", text));
    if (!parts_.protocol) return lack("protocol");
    return [protocol = *number](const FilteredRow& row) { return row.key.protocol == protocol; };
  }

  Test vlan(const FilterColumn& column) {
    const std::string text = next("a VLAN", "vlan 10");
    const auto number = number_of(text);
    if (!number) return wrong(fmt::format("\"{}\" is no VLAN, such as 10", text));
    return [index = column.index, number = *number](const FilteredRow& row) { return row.number(index) == number; };
  }

  Test texts(const FilterColumn& column) {
    const bool is_whole = take("=") || take("=="), is_other = !is_whole && take("!=");
    const std::string text = next("a text", column.name + " example.org");
    std::vector<bool> fits;
    for (const std::string& each : *column.texts) {
      const std::string one = lower(each);
      fits.push_back(is_whole || is_other ? (one == text) == is_whole : one.find(text) != std::string::npos);
    }
    return [index = column.index, fits = std::move(fits)](const FilteredRow& row) {
      const double value = row.number(index);
      return !std::isnan(value) && fits[static_cast<std::size_t>(value)];
    };
  }

  Test comparison(const FilterColumn& column) {
    const auto compare = comparison_of(word());
    if (compare == nullptr)
      return wrong(fmt::format("compare {} with a number, such as {} > 1000", column.name, column.name));
    ++at_;
    const std::string text = next("a number", column.name + " > 1000");
    const auto number = number_of(text);
    if (!number) return wrong(fmt::format("\"{}\" is no number, such as 1000, 1.5 or 10M", text));
    return [index = column.index, compare, number = *number](const FilteredRow& row) {
      const double value = row.number(index);
      return !std::isnan(value) && compare(value, number);
    };
  }

  std::vector<std::string> words_;
  const std::vector<FilterColumn>& columns_;
  const KeyParts& parts_;
  std::size_t at_ = 0;
  std::string problem_;
};

Result<RowFilter> RowFilter::parse(const std::string& text, const std::vector<FilterColumn>& columns,
                                   const KeyParts& parts) {
  RowFilter filter;
  if (text.find_first_not_of(' ') == std::string::npos) return filter;
  auto test = Parser(text, columns, parts).parse();
  if (!test) return test.error();
  filter.matches_ = *std::move(test);
  return filter;
}

}  // namespace parshall::live
