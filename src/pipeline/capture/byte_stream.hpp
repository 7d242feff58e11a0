// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.hpp"

namespace parshall {

/// Result of one ByteStream::read().
struct BytesRead {
  enum class Outcome : std::uint8_t {
    some,
    end,          ///< no more bytes will come
    stopped,      ///< ended by stop()
    interrupted,  ///< ended by a signal before any bytes came
  };
  Outcome outcome = Outcome::some;
  std::size_t bytes = 0;  ///< at least one if the outcome is `some`
};

/// Sequential bytes of an input. Only one thread at a time reads.
class ByteStream {
 public:
  virtual ~ByteStream() = default;

  /// Waits for bytes and fills the front of `room`, which is not empty, with those available.
  /// Error: what broke, without the input's name. All bytes before that have been delivered.
  virtual Result<BytesRead> read(std::span<std::uint8_t> room) = 0;

  /// Ends a waiting read() and every later one. Any thread may call it.
  virtual void stop() noexcept = 0;
};

}  // namespace parshall
