// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/output/varint.hpp"

namespace parshall {

/// Maps signed numbers near 0 to small unsigned ones.
constexpr std::uint64_t zigzag(std::int64_t value) noexcept {
  return static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
}

/// Writes structures in Thrift's compact protocol, as far as Parquet's metadata need it.
/// Source: thrift-compact-protocol.md, and parquet.thrift for the numbers of fields.
class ThriftWriter {
 public:
  enum class Type : std::uint8_t { yes = 1, no = 2, i8 = 3, i32 = 5, i64 = 6, binary = 8, list = 9, structure = 12 };

  void i8(int id, std::int8_t value) {
    field(id, Type::i8);
    out_ += static_cast<char>(value);
  }
  void i32(int id, std::int32_t value) {
    field(id, Type::i32);
    put_varint(out_, zigzag(value));
  }
  void i64(int id, std::int64_t value) {
    field(id, Type::i64);
    put_varint(out_, zigzag(value));
  }
  void boolean(int id, bool value) { field(id, value ? Type::yes : Type::no); }
  void text(int id, std::string_view value) {
    field(id, Type::binary);
    item(value);
  }

  /// Begins a structure, as a field or, without `id`, as an item of a list. close() ends it.
  void open(int id) {
    field(id, Type::structure);
    open();
  }
  void open() { last_.push_back(0); }
  void close() {
    out_ += '\0';
    last_.pop_back();
  }
  void nothing(int id) {  ///< a structure without fields
    open(id);
    close();
  }

  /// Begins a list, whose items follow.
  void list(int id, Type type, std::size_t items) {
    constexpr std::size_t kShort = 15;
    field(id, Type::list);
    const auto low = static_cast<unsigned>(type);
    out_ += static_cast<char>((items < kShort ? items : kShort) << 4 | low);
    if (items >= kShort) put_varint(out_, items);
  }
  void item(std::string_view value) {
    put_varint(out_, value.size());
    out_ += value;
  }
  void item(std::int32_t value) { put_varint(out_, zigzag(value)); }

  /// Ends the outermost structure and returns the bytes.
  const std::string& finish() {
    out_ += '\0';
    return out_;
  }

 private:
  /// Writes a field header. Fields come in rising order, mostly with consecutive numbers.
  void field(int id, Type type) {
    constexpr int kFar = 16;
    const int step = id - last_.back();
    const auto low = static_cast<char>(type);
    if (step < kFar) {
      out_ += static_cast<char>(step << 4 | low);
    } else {
      out_ += low;
      put_varint(out_, zigzag(id));
    }
    last_.back() = id;
  }

  std::string out_;
  std::vector<int> last_{0};  ///< last field of each open structure
};

}  // namespace parshall
