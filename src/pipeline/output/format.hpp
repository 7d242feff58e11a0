// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "pipeline/decode/facts.hpp"

namespace parshall {

constexpr std::string_view bool_text(bool truth) noexcept { return truth ? "true" : "false"; }

/// Digits of 0..9999, to write numbers four digits at a time.
inline constexpr auto kFourDigits = [] {
  std::array<std::array<char, 4>, 10000> table{};
  for (unsigned i = 0; i < 10000; ++i)
    table[i] = {static_cast<char>('0' + i / 1000), static_cast<char>('0' + i / 100 % 10),
                static_cast<char>('0' + i / 10 % 10), static_cast<char>('0' + i % 10)};
  return table;
}();

inline constexpr std::size_t kMaxNumberChars = 20;

/// Writes a number below 10000 without leading zeros. May write anything into 4 bytes.
inline char* put_short(char* out, std::uint64_t value) noexcept {
  static_assert(std::endian::native == std::endian::little);
  const unsigned zeros = unsigned{value < 10} + unsigned{value < 100} + unsigned{value < 1000};
  std::uint32_t digits;
  std::memcpy(&digits, kFourDigits[value].data(), 4);
  digits >>= 8 * zeros;
  std::memcpy(out, &digits, 4);
  return out + 4 - zeros;
}

/// Writes `value` and returns the end. Needs kMaxNumberChars, and may write anything into those behind the end. Digits
/// are stored in place, since data just stored in pieces is slow to load as a whole.
inline char* put_number(char* out, std::uint64_t value) noexcept {
  std::array<std::uint64_t, kMaxNumberChars / 4> groups;
  std::size_t more = 0;
  for (; value >= 10000; value /= 10000) groups[more++] = value % 10000;
  out = put_short(out, value);
  for (; more > 0; out += 4) std::memcpy(out, kFourDigits[groups[--more]].data(), 4);
  return out;
}

/// Writes as few significant digits as identify the value, at most 15. Needs at most 32 characters. `value` must be
/// finite.
inline char* put_number(char* out, double value) noexcept {
  if (value == std::floor(value) && std::fabs(value) < 1e15) {
    if (value < 0) *out++ = '-';
    return put_number(out, static_cast<std::uint64_t>(std::fabs(value)));
  }
  return std::to_chars(out, out + 32, value, std::chars_format::general, 15).ptr;
}

inline constexpr std::size_t kIsoTimeChars = 30;

/// Writes ns since 1970 as "2026-11-27T21:48:09.000000001Z" and returns the end. Needs kIsoTimeChars.
char* put_iso_time(char* out, std::uint64_t ns) noexcept;

inline constexpr std::size_t kMaxAddressChars = 46;

/// Writes an address like inet_ntop(); needs kMaxAddressChars.
char* put_address(char* out, std::span<const std::uint8_t> address) noexcept;

std::string address_text(std::span<const std::uint8_t> address);

/// Returns "TCP", "UDP", ... or the IANA number.
std::string protocol_text(std::uint8_t protocol);

/// Returns one letter per flag set, NS first: "..A.PS.F" without the dots.
std::string tcp_flags_text(std::uint32_t flags);

/// Formats 1234567 as "1.23 M"; with a unit: "1.23 Mpps".
std::string scaled_text(double value, const char* unit = "");

}  // namespace parshall
