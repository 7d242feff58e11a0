// SPDX-License-Identifier: Apache-2.0
#include "classify/model_reader.hpp"

#include <fmt/format.h>

#include <limits>

#include "classify/toml_text.hpp"

namespace parshall {
namespace {

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

double number_of(const toml::node& node) { return node.is_number() ? node.value_or(kNotANumber) : kNotANumber; }
bool is_in(double number, ModelReader::Range range) { return number >= range.least && number <= range.most; }

}  // namespace

const toml::node* ModelReader::wanted(const toml::table& table, std::string_view key) {
  const toml::node* const node = table.get(key);
  if (node == nullptr) complain(table, fmt::format("{} is missing: add it, or train the model again", key));
  return node;
}

const toml::table* ModelReader::table(const toml::table& in, std::string_view key) {
  const toml::node* const node = wanted(in, key);
  if (node != nullptr && !node->is_table()) complain(*node, fmt::format("{} must be a table: [{}]", key, key));
  return node == nullptr ? nullptr : node->as_table();
}

const toml::array* ModelReader::list(const toml::table& in, std::string_view key) {
  const toml::node* const node = wanted(in, key);
  if (node != nullptr && !node->is_array()) complain(*node, fmt::format("{} must be a list: [..., ...]", key));
  return node == nullptr ? nullptr : node->as_array();
}

std::string ModelReader::text(const toml::table& in, std::string_view key) {
  const toml::node* const node = wanted(in, key);
  if (node != nullptr && !node->is_string()) complain(*node, fmt::format("{} must be a text in quotes", key));
  return node == nullptr ? "" : node->value_or(std::string());
}

void ModelReader::complain_of_number(const toml::node& at, std::string_view key, Range range) {
  complain(at, fmt::format("{} must be a number from {} to {}", key, range.least, range.most));
}

double ModelReader::number(const toml::table& in, std::string_view key, Range range) {
  const toml::node* const node = wanted(in, key);
  if (node == nullptr) return 0;
  const double value = number_of(*node);
  if (!is_in(value, range)) return complain_of_number(*node, key, range), 0;
  return value;
}

std::uint64_t ModelReader::count(const toml::table& in, std::string_view key, std::uint64_t least, std::uint64_t most) {
  const toml::node* const node = wanted(in, key);
  if (node == nullptr) return 0;
  const std::int64_t value = node->is_integer() ? node->as_integer()->get() : -1;
  if (value >= 0 && static_cast<std::uint64_t>(value) >= least && static_cast<std::uint64_t>(value) <= most)
    return static_cast<std::uint64_t>(value);
  return complain(*node, fmt::format("{} must be a whole number from {} to {}", key, least, most)), 0;
}

const toml::array* ModelReader::list_of(const toml::table& in, std::string_view key, std::size_t wanted_count) {
  const toml::array* const array = list(in, key);
  if (array == nullptr || array->size() == wanted_count) return array;
  complain(*array, fmt::format("{} has {} numbers, but needs {}", key, array->size(), wanted_count));
  return nullptr;
}

std::vector<std::uint64_t> ModelReader::counts(const toml::table& in, std::string_view key, std::size_t wanted_count) {
  std::vector<std::uint64_t> counts;
  const toml::array* const array = list_of(in, key, wanted_count);
  if (array == nullptr) return counts;
  for (const toml::node& entry : *array) {
    const std::int64_t count = entry.is_integer() ? entry.as_integer()->get() : -1;
    if (count < 0) complain(entry, fmt::format("{} must be a list of whole numbers from 0", key));
    counts.push_back(static_cast<std::uint64_t>(count));
  }
  return counts;
}

std::vector<double> ModelReader::numbers(const toml::table& in, std::string_view key, std::size_t wanted_count,
                                         Range range) {
  std::vector<double> numbers;
  const toml::array* const array = list_of(in, key, wanted_count);
  if (array == nullptr) return numbers;
  for (const toml::node& entry : *array) {
    const bool is_none = entry.value<std::string_view>() == kNone;
    const double number = number_of(entry);
    if (!is_none && !is_in(number, range)) complain_of_number(entry, key, range);
    numbers.push_back(number);
  }
  return numbers;
}

}  // namespace parshall
