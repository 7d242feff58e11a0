// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include "base/value_type.hpp"

namespace parshall {

/// One cell of a record: absent, or of its column's type.
///
/// Shape: 24 bytes, trivially copyable. An address takes 16 of them, with IPv4 mapped into IPv6 (RFC 4291, 2.5.5.2); a
///        community id takes 20. A text lies elsewhere: the value is valid as long as what it was read from;
///        keep_texts() keeps it longer.
class Value {
 public:
  static constexpr std::size_t kDigestBytes = 20;

  constexpr Value() noexcept = default;  ///< makes an absent value

  static constexpr Value of_unsigned(std::uint64_t number) noexcept { return {number, ValueType::unsigned_integer}; }
  static constexpr Value of_signed(std::int64_t number) noexcept {
    return {static_cast<std::uint64_t>(number), ValueType::signed_integer};
  }
  static constexpr Value of_real(double number) noexcept {
    return {std::bit_cast<std::uint64_t>(number), ValueType::real};
  }
  static constexpr Value of_time(std::uint64_t ns) noexcept { return {ns, ValueType::time}; }
  static constexpr Value of_enumeration(std::uint64_t index) noexcept { return {index, ValueType::enumeration}; }
  static constexpr Value of_flags(std::uint64_t bits) noexcept { return {bits, ValueType::flags}; }
  static constexpr Value of_bool(bool truth) noexcept { return {truth ? 1u : 0u, ValueType::boolean}; }

  /// Makes an address of 4 or 16 bytes, in network order. It is assembled in registers: data just stored in pieces is
  /// slow to load as a whole.
  static Value of_address(std::span<const std::uint8_t> address) noexcept {
    static_assert(std::endian::native == std::endian::little);
    if (address.size() == kIpv4Bytes) {
      std::uint32_t all;
      std::memcpy(&all, address.data(), sizeof all);
      return {0, std::uint64_t{all} << 32 | kMapped, 4};
    }
    std::uint64_t first, last;
    std::memcpy(&first, address.data(), sizeof first);
    std::memcpy(&last, address.data() + sizeof first, sizeof last);
    return {first, last, 6};
  }

  /// Makes a community id from a SHA-1 digest.
  static Value of_community_id(std::span<const std::uint8_t, kDigestBytes> digest) noexcept {
    Value value({}, ValueType::community_id);
    std::memcpy(value.words_.data(), digest.data(), sizeof value.words_);
    std::memcpy(&value.rest_, digest.data() + sizeof value.words_, sizeof value.rest_);
    return value;
  }

  /// Makes a text, which is not copied.
  static Value of_text(std::string_view text) noexcept {
    Value value(reinterpret_cast<std::uintptr_t>(text.data()), ValueType::text);
    value.words_[1] = text.size();
    return value;
  }

  constexpr bool present() const noexcept { return present_; }
  constexpr ValueType type() const noexcept { return type_; }  ///< requires present()

  // The value itself, for callers that know the type of its column:

  /// Returns unsigned integers, times, enumerations (the index of the name) and flags.
  constexpr std::uint64_t as_unsigned() const noexcept { return words_[0]; }
  constexpr bool as_bool() const noexcept { return words_[0] != 0; }
  constexpr std::int64_t as_signed() const noexcept { return static_cast<std::int64_t>(words_[0]); }
  constexpr double as_real() const noexcept { return std::bit_cast<double>(words_[0]); }
  std::string_view as_text() const noexcept { return {reinterpret_cast<const char*>(words_[0]), words_[1]}; }
  std::uint8_t ip_version() const noexcept { return ip_version_; }
  /// Returns 4 or 16 bytes.
  std::span<const std::uint8_t> as_address() const noexcept {
    const auto bytes = mapped_address();
    return ip_version_ == 4 ? bytes.last(kIpv4Bytes) : bytes;
  }
  /// Returns 16 bytes in any case.
  std::span<const std::uint8_t> mapped_address() const noexcept {
    return {reinterpret_cast<const std::uint8_t*>(words_.data()), sizeof words_};
  }
  /// Returns the digest of a community id; for an address, a unique key.
  std::array<std::uint8_t, kDigestBytes> as_digest() const noexcept {
    std::array<std::uint8_t, kDigestBytes> digest;
    std::memcpy(digest.data(), words_.data(), sizeof words_);
    std::memcpy(digest.data() + sizeof words_, &rest_, sizeof rest_);
    return digest;
  }

  /// Returns the nearest double, for comparisons and charts; nullopt for what is no number.
  constexpr std::optional<double> number() const noexcept {
    if (!present_ || type_ == ValueType::address || type_ == ValueType::community_id || type_ == ValueType::text)
      return std::nullopt;
    if (type_ == ValueType::real) return as_real();
    return type_ == ValueType::signed_integer ? static_cast<double>(as_signed()) : static_cast<double>(as_unsigned());
  }

  /// Orders two values of one column. Absent values come first; IPv4 addresses are ordered as mapped addresses.
  friend std::partial_ordering operator<=>(const Value& a, const Value& b) noexcept {
    if (!a.present_ || !b.present_) return a.present_ <=> b.present_;
    if (a.type_ == ValueType::real) return a.as_real() <=> b.as_real();
    if (a.type_ == ValueType::signed_integer) return a.as_signed() <=> b.as_signed();
    if (a.type_ == ValueType::address) return std::memcmp(a.words_.data(), b.words_.data(), sizeof a.words_) <=> 0;
    if (a.type_ == ValueType::community_id) return a.as_digest() <=> b.as_digest();
    if (a.type_ == ValueType::text) return a.as_text() <=> b.as_text();
    return a.words_[0] <=> b.words_[0];
  }
  friend bool operator==(const Value& a, const Value& b) noexcept {
    if (a.present_ && b.present_ && a.type_ == ValueType::text && b.type_ == ValueType::text)
      return a.as_text() == b.as_text();
    return a.words_ == b.words_ && a.type_ == b.type_ && a.present_ == b.present_ && a.ip_version_ == b.ip_version_ &&
           a.rest_ == b.rest_;
  }

 private:
  static constexpr std::size_t kIpv4Bytes = 4;
  static constexpr std::uint64_t kMapped = 0xffff0000;  ///< bytes 0, 0, 0xff, 0xff in front of an IPv4 address

  constexpr Value(std::uint64_t word, ValueType type) noexcept : words_{word, 0}, type_(type), present_(true) {}

  constexpr Value(std::uint64_t first, std::uint64_t last, std::uint8_t ip_version) noexcept
      : words_{first, last}, type_(ValueType::address), present_(true), ip_version_(ip_version) {}

  std::array<std::uint64_t, 2> words_{};
  ValueType type_ = ValueType::unsigned_integer;
  bool present_ = false;
  std::uint8_t ip_version_ = 0;
  std::uint32_t rest_ = 0;  ///< last bytes of a digest
};
static_assert(sizeof(Value) == 24);

}  // namespace parshall
