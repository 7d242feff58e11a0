// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pipeline/capture/byte_stream.hpp"
#include "pipeline/capture/compressed/formats.hpp"

namespace parshall {

/// Decompresses a stream as it is read, all frames one after the other.
///
/// Shape: 64 KiB of the stream, and the library's state (at most kMostWindowBytes of window, and some more).
/// Error: the stream ends within a frame, or a frame is damaged; the message names the byte of the compressed input.
class CompressedStream final : public ByteStream {
 public:
  /// `head` holds bytes already read from `stream`.
  static Result<std::unique_ptr<ByteStream>> make(const CompressedFormat& format, std::unique_ptr<ByteStream> stream,
                                                  std::span<const std::uint8_t> head);
  /// Use make().
  CompressedStream(const CompressedFormat& format, std::unique_ptr<ByteStream> stream, std::unique_ptr<Decoder> decoder,
                   std::span<const std::uint8_t> head);

  Result<BytesRead> read(std::span<std::uint8_t> room) override;
  void stop() noexcept override { stream_->stop(); }

 private:
  static constexpr std::size_t kInputBytes = 64u << 10;
  /// Limit on input that yields no data, such as empty frames. Before the ring runs, a reader that never returns could
  /// not be stopped.
  static constexpr std::uint64_t kMostForNothing = 256u << 20;

  Result<BytesRead> refill();
  bool between_frames();
  Error damage(const std::string& what) const;

  const CompressedFormat& format_;
  const std::unique_ptr<ByteStream> stream_;
  const std::unique_ptr<Decoder> decoder_;
  std::vector<std::uint8_t> input_;
  std::span<const std::uint8_t> rest_;  ///< part of `input_`
  std::uint64_t taken_ = 0;             ///< bytes taken from the stream
  bool in_frame_ = true;
  bool room_was_filled_ = false;  ///< more output may be pending without further input
  bool ended_ = false;            ///< true if the stream ended
  std::optional<Error> wrong_;
};

}  // namespace parshall
