// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/toml_reader.hpp"

namespace parshall {

/// Reads the parts of a model's file and says where it is wrong. Missing or invalid parts cause a complaint, and read
/// as 0 or empty.
class ModelReader : public TomlReader {
 public:
  /// Range of valid numbers, from `least` to `most`.
  struct Range {
    double least, most;
  };

  /// `name` is the file's name in errors. Both arguments must outlive the reader.
  ModelReader(const std::string& name, const toml::table& file) : TomlReader(name), file_(file) {}

  const toml::table& file() const noexcept { return file_; }

  using TomlReader::check_keys;
  using TomlReader::complain;
  using TomlReader::each;
  using TomlReader::problem;
  using TomlReader::texts;

  /// Returns the node of a key. Returns null, with a complaint, if it is missing.
  const toml::node* wanted(const toml::table& table, std::string_view key);
  const toml::table* table(const toml::table& in, std::string_view key);
  const toml::array* list(const toml::table& in, std::string_view key);

  std::string text(const toml::table& in, std::string_view key);
  double number(const toml::table& in, std::string_view key, Range range);
  std::uint64_t count(const toml::table& in, std::string_view key, std::uint64_t least, std::uint64_t most);

  std::vector<std::uint64_t> counts(const toml::table& in, std::string_view key, std::size_t wanted_count);

  /// Returns `wanted_count` numbers; NaN for kNone.
  std::vector<double> numbers(const toml::table& in, std::string_view key, std::size_t wanted_count, Range range);

 private:
  const toml::array* list_of(const toml::table& in, std::string_view key, std::size_t wanted_count);
  void complain_of_number(const toml::node& at, std::string_view key, Range range);

  const toml::table& file_;
};

}  // namespace parshall
