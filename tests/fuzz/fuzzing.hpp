// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace parshall::fuzz {

using Bytes = std::span<const std::uint8_t>;

/// Ends the program where a property does not hold; says which.
inline void require(bool holds, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (holds) [[likely]]
    return;
  std::fprintf(stderr, "%s:%d: what is required there does not hold\n", file, line);
  std::abort();
}

inline std::string_view text_of(Bytes bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Takes an input apart. Behind its end there are zeros.
class Input {
 public:
  explicit Input(Bytes bytes) noexcept : rest_(bytes) {}

  bool empty() const noexcept { return rest_.empty(); }
  std::uint8_t byte() noexcept {
    if (rest_.empty()) return 0;
    const std::uint8_t byte = rest_.front();
    rest_ = rest_.subspan(1);
    return byte;
  }
  /// The lowest byte first.
  std::uint64_t number(std::size_t bytes) noexcept {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < bytes; ++i) number |= std::uint64_t{byte()} << 8 * i;
    return number;
  }
  Bytes take(std::size_t bytes) noexcept {
    const Bytes taken = rest_.first(std::min(bytes, rest_.size()));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }
  /// Up to `end`, which is left out, or to the end of all.
  std::string text_until(char end) {
    const auto at = std::find(rest_.begin(), rest_.end(), static_cast<std::uint8_t>(end));
    const Bytes taken = take(static_cast<std::size_t>(at - rest_.begin()));
    static_cast<void>(byte());
    return std::string(text_of(taken));
  }
  Bytes rest() noexcept { return take(rest_.size()); }
  std::string text() { return std::string(text_of(rest())); }

 private:
  Bytes rest_;
};

/// A block of exactly these bytes, so that the address sanitizer sees any that is read beyond it.
class Block {
 public:
  explicit Block(Bytes bytes) : bytes_(std::make_unique<std::uint8_t[]>(bytes.size())), size_(bytes.size()) {
    std::copy(bytes.begin(), bytes.end(), bytes_.get());
  }
  Bytes bytes() const noexcept { return {bytes_.get(), size_}; }
  std::uint8_t* data() noexcept { return bytes_.get(); }

 private:
  std::unique_ptr<std::uint8_t[]> bytes_;
  std::size_t size_;
};

}  // namespace parshall::fuzz
