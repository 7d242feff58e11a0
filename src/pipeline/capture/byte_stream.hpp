// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.hpp"

namespace parshall {

/// What one ByteStream::read() came to.
struct BytesRead {
  enum class Outcome : std::uint8_t {
    some,
    end,          ///< there will be no more
    stopped,      ///< by stop()
    interrupted,  ///< by a signal, before there were any
  };
  Outcome outcome = Outcome::some;
  std::size_t bytes = 0;  ///< at least one where there are some
};

/// The bytes of an input, one after the other. One thread at a time reads.
class ByteStream {
 public:
  virtual ~ByteStream() = default;

  /// Waits until there are bytes, and puts as many as there are in front of `room`, which is not empty.
  /// Error: what broke, without the input's name. All bytes before that have been delivered.
  virtual Result<BytesRead> read(std::span<std::uint8_t> room) = 0;

  /// Ends a read() that waits, and every later one. For any thread.
  virtual void stop() noexcept = 0;
};

}  // namespace parshall
