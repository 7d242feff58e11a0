// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/application/ja4.hpp"

#include <algorithm>
#include <array>

#include "pipeline/decode/application/cursor.hpp"
#include "pipeline/decode/application/libcrypto.hpp"
#include "pipeline/decode/application/sha256.hpp"

namespace parshall {
namespace {

constexpr std::size_t kMostValues =
    1024;  // bounds the time that a hostile message takes; some 350 ciphers are registered
constexpr std::uint16_t kServerName = 0, kAlpn = 16;
constexpr std::string_view kNoValues = "000000000000";
constexpr std::string_view kHexDigits = "0123456789abcdef";

/// Values of 2 bytes, without GREASE.
struct Values {
  std::array<std::uint16_t, kMostValues> at;
  std::size_t count = 0;
  bool overflowed = false;

  void add(std::uint16_t value) noexcept {
    if (is_grease(value)) return;
    if (count == kMostValues) {
      overflowed = true;
      return;
    }
    at[count++] = value;
  }
  void add_all(std::span<const std::uint8_t> bytes) noexcept {
    for (Cursor in(bytes); in.left() >= 2 && !overflowed;) add(in.be16());
  }
  void sort() noexcept { std::sort(at.begin(), at.begin() + count); }
};

/// Hexadecimal values joined by ",", to be digested.
class Listing {
 public:
  void add(const Values& values, char separator = '\0') noexcept {
    for (std::size_t i = 0; i < values.count; ++i) {
      const std::uint16_t value = values.at[i];
      if (i != 0 || separator != '\0') put(i != 0 ? ',' : separator);
      for (const int shift : {12, 8, 4, 0}) put(kHexDigits[value >> shift & 15]);
    }
  }
  void append_digest(ShortText<36>& ja4) const noexcept {
    const Sha256Digest digest = sha256({text_.data(), used_});
    for (std::size_t i = 0; i < kNoValues.size() / 2; ++i) {
      ja4.append(kHexDigits[digest[i] >> 4]);
      ja4.append(kHexDigits[digest[i] & 15]);
    }
  }

 private:
  void put(char character) noexcept { text_[used_++] = static_cast<std::uint8_t>(character); }

  std::array<std::uint8_t, 2 * 5 * kMostValues> text_;  // extensions and algorithms, each with what separates it
  std::size_t used_ = 0;
};

std::string_view version_text(std::uint16_t version) noexcept {
  switch (version) {
    case 0x0304:
      return "13";
    case 0x0303:
      return "12";
    case 0x0302:
      return "11";
    case 0x0301:
      return "10";
    case 0x0300:
      return "s3";
    case 0x0002:
      return "s2";
    default:
      return "00";
  }
}

void append_count(std::size_t count, ShortText<36>& ja4) noexcept {
  const std::size_t shown = std::min<std::size_t>(count, 99);
  ja4.append(static_cast<char>('0' + shown / 10));
  ja4.append(static_cast<char>('0' + shown % 10));
}

bool is_alphanumeric(std::uint8_t byte) noexcept {
  return (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z');
}

void append_alpn(std::span<const std::uint8_t> name, ShortText<36>& ja4) noexcept {
  if (name.empty()) return ja4.append("00");
  const bool is_text = is_alphanumeric(name.front()) && is_alphanumeric(name.back());
  ja4.append(is_text ? static_cast<char>(name.front()) : kHexDigits[name.front() >> 4]);
  ja4.append(is_text ? static_cast<char>(name.back()) : kHexDigits[name.back() & 15]);
}

/// Returns how many extensions there are; `hashed` gets those that the digest is of.
std::size_t read_extensions(std::span<const std::uint8_t> extensions, Values& hashed) noexcept {
  std::size_t count = 0;
  for (Cursor in(extensions); !in.empty();) {
    const std::uint16_t type = in.be16();
    in.take(in.be16());
    if (in.failed() || hashed.overflowed) break;
    if (is_grease(type)) continue;
    ++count;
    if (type != kServerName && type != kAlpn) hashed.add(type);
  }
  return count;
}

}  // namespace

void make_ja4(const ClientHello& hello, bool over_quic, ShortText<36>& ja4) noexcept {
  ja4.clear();
  if (crypto_problem()) return;
  Values ciphers, extensions, algorithms;
  ciphers.add_all(hello.ciphers);
  algorithms.add_all(hello.signature_algorithms);
  const std::size_t extension_count = read_extensions(hello.extensions, extensions);
  if (ciphers.overflowed || extensions.overflowed || algorithms.overflowed) return;
  ciphers.sort();
  extensions.sort();

  ja4.append(over_quic ? 'q' : 't');
  ja4.append(version_text(hello.version));
  ja4.append(hello.has_server_name ? 'd' : 'i');
  append_count(ciphers.count, ja4);
  append_count(extension_count, ja4);
  append_alpn(hello.first_alpn, ja4);
  ja4.append('_');
  if (ciphers.count == 0) {
    ja4.append(kNoValues);
  } else {
    Listing listing;
    listing.add(ciphers);
    listing.append_digest(ja4);
  }
  ja4.append('_');
  if (extensions.count == 0) return ja4.append(kNoValues);
  Listing listing;
  listing.add(extensions);
  listing.add(algorithms, '_');
  listing.append_digest(ja4);
}

}  // namespace parshall
