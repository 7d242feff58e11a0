// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bit>

#include "pipeline/flow/hashes/input.hpp"

namespace parshall {

/// Computes the first 64 bits with seeds of 0, for fewer than 192 bytes, where SpookyHash uses its short form.
///
/// Source: Bob Jenkins, SpookyHash V2 (public domain), Short().
class Spooky {
 public:
  [[gnu::always_inline]] static std::uint64_t of(std::span<const std::uint8_t> bytes) noexcept {
    State s;
    std::size_t at = 0;
    for (; at + 32 <= bytes.size(); at += 32) {
      s.absorb(word(bytes, at), word(bytes, at + 8));
      s.a += word(bytes, at + 16);
      s.b += word(bytes, at + 24);
    }
    if (at + 16 <= bytes.size()) {
      s.absorb(word(bytes, at), word(bytes, at + 8));
      at += 16;
    }
    s.d += static_cast<std::uint64_t>(bytes.size()) << 56;
    if (at == bytes.size()) {
      s.c += kFiller;
      s.d += kFiller;
    } else {
      s.c += word(bytes, at);
      s.d += word(bytes, at + 8);
    }
    return s.end();
  }

 private:
  static constexpr std::uint64_t kFiller = 0xDEAD'BEEF'DEAD'BEEF;

  /// Loads up to 8 bytes; zeros follow the end.
  [[gnu::always_inline]] static std::uint64_t word(std::span<const std::uint8_t> bytes, std::size_t at) noexcept {
    if (at + 8 <= bytes.size()) return load_word<std::uint64_t>(bytes.data() + at);
    std::uint64_t word = 0;
    for (std::size_t i = bytes.size(); i > at; --i) word = word << 8 | bytes[i - 1];
    return word;
  }

  struct State {
    std::uint64_t a = 0, b = 0, c = kFiller, d = kFiller;

    [[gnu::always_inline]] void absorb(std::uint64_t first, std::uint64_t second) noexcept {
      c += first;
      d += second;
      constexpr int kTurns[] = {50, 52, 30, 41, 54, 48, 38, 37, 62, 34, 5, 36};
      for (std::size_t i = 0; i < 12; i += 4) {
        mix(c, d, a, kTurns[i]);
        mix(d, a, b, kTurns[i + 1]);
        mix(a, b, c, kTurns[i + 2]);
        mix(b, c, d, kTurns[i + 3]);
      }
    }
    [[gnu::always_inline]] std::uint64_t end() noexcept {
      constexpr int kTurns[] = {15, 52, 26, 51, 28, 9, 47, 54, 32, 25, 63};
      for (std::size_t i = 0; i < 8; i += 4) {
        last(d, c, kTurns[i]);
        last(a, d, kTurns[i + 1]);
        last(b, a, kTurns[i + 2]);
        last(c, b, kTurns[i + 3]);
      }
      last(d, c, kTurns[8]);
      last(a, d, kTurns[9]);
      last(b, a, kTurns[10]);
      return a;
    }

   private:
    static void mix(std::uint64_t& turned, std::uint64_t added, std::uint64_t& changed, int turn) noexcept {
      turned = std::rotl(turned, turn) + added;
      changed ^= turned;
    }
    static void last(std::uint64_t& changed, std::uint64_t& turned, int turn) noexcept {
      changed ^= turned;
      turned = std::rotl(turned, turn);
      changed += turned;
    }
  };
};

}  // namespace parshall
