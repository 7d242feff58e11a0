// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/byte_reader.hpp"

namespace parshall {

/// Reads structures in Thrift's compact protocol, from any writer. Source: thrift-compact-protocol.md.
class ThriftReader {
 public:
  explicit ThriftReader(std::span<const std::uint8_t> bytes) noexcept : bytes_(bytes) {}

  bool ok() const noexcept { return bytes_.ok() && ok_; }
  std::size_t left() const noexcept { return bytes_.left(); }

  /// Calls `use(id)` for each field; it returns whether it has read the field.
  template <class Use>
  void structure(const Use& use) {
    int id = 0;
    while (ok()) {
      const std::uint8_t head = bytes_.byte();
      if (head == kStop || !ok()) return;
      id = (head >> 4) == 0 ? static_cast<int>(bytes_.zigzag()) : id + (head >> 4);
      is_true_ = (head & 0xf) == kYes;
      if (!use(id)) skip(head & 0xf, 0);
    }
  }

  /// Calls `use()` for each item of a list, which reads it.
  template <class Use>
  void list(const Use& use) {
    const std::uint8_t head = bytes_.byte();
    const std::uint64_t items = (head >> 4) == kLong ? bytes_.varint() : head >> 4;
    for (std::uint64_t i = 0; i < items && ok(); ++i) use();
  }

  bool flag() const noexcept { return is_true_; }  ///< value of the field that was begun last, if it is a boolean
  std::int64_t number() noexcept { return bytes_.zigzag(); }
  std::string text() {
    const auto bytes = bytes_.take(bytes_.varint());
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

 private:
  enum : std::uint8_t { kStop = 0, kYes, kNo, kI8, kI16, kI32, kI64, kDouble, kBinary, kList, kSet, kMap, kStructure };
  static constexpr std::uint8_t kLong = 15;
  static constexpr int kDeepest = 32;

  void skip(std::uint8_t type, int depth) {
    if (depth > kDeepest) ok_ = false;
    if (!ok()) return;
    switch (type) {
      case kYes:
      case kNo:
        return;
      case kI8:
        bytes_.byte();
        return;
      case kI16:
      case kI32:
      case kI64:
        bytes_.varint();
        return;
      case kDouble:
        bytes_.take(8);
        return;
      case kBinary:
        bytes_.take(bytes_.varint());
        return;
      case kList:
      case kSet: {
        const std::uint8_t head = bytes_.byte();
        const std::uint64_t items = (head >> 4) == kLong ? bytes_.varint() : head >> 4;
        const std::uint8_t item = head & 0xf;
        // Booleans take a byte each in a list.
        for (std::uint64_t i = 0; i < items && ok(); ++i) skip(item <= kNo ? std::uint8_t{kI8} : item, depth + 1);
        return;
      }
      case kStructure:
        while (ok()) {
          const std::uint8_t head = bytes_.byte();
          if (head == kStop || !ok()) return;
          if ((head >> 4) == 0) bytes_.varint();
          skip(head & 0xf, depth + 1);
        }
        return;
      default:
        ok_ = false;
    }
  }

  ByteReader bytes_;
  bool ok_ = true, is_true_ = false;
};

}  // namespace parshall
