// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/result.hpp"
#include "pipeline/capture/byte_stream.hpp"
#include "pipeline/capture/capture_parser.hpp"

namespace parshall {

/// Ring of chunks that one thread fills from a stream, and that several consumers read, each at its own pace.
///
/// Shape: kChunks buffers of kChunkBytes. One grows if a single record is larger, at most to the parsers' limit. A
///        chunk holds whole records; an incomplete record at its end moves to the next chunk.
/// Full:  the reader waits for the slowest consumer (and the stream's writer for the reader). No data is lost.
class StreamRing {
 public:
  static constexpr std::size_t kChunks = 16;
  static constexpr std::size_t kChunkBytes = 256u << 10;

  /// Takes the stream over and starts the thread. `head` holds bytes already read; `framer` finds the ends of records.
  static Result<std::shared_ptr<StreamRing>> start(std::unique_ptr<ByteStream> stream, std::vector<std::uint8_t> head,
                                                   std::unique_ptr<CaptureParser> framer, std::string name,
                                                   std::size_t consumers);
  /// Use start().
  StreamRing(std::unique_ptr<ByteStream> stream, std::unique_ptr<CaptureParser> framer, std::string name,
             std::size_t consumers);
  StreamRing(const StreamRing&) = delete;
  StreamRing& operator=(const StreamRing&) = delete;
  ~StreamRing();

  /// Returns chunk number `sequence`, valid until it is released; nullopt if it does not come within `patience`.
  std::optional<std::span<const std::uint8_t>> chunk(std::uint64_t sequence,
                                                     std::chrono::microseconds patience) noexcept;

  /// Returns whether no chunk from `sequence` on will ever come.
  bool ended_before(std::uint64_t sequence) noexcept;

  /// Releases every chunk before `sequence` for `consumer`.
  void release(std::size_t consumer, std::uint64_t sequence) noexcept;

  /// Returns why reading ended early, if it did. Valid once the stream ended.
  std::optional<std::string> read_error() noexcept;

  const std::string& name() const noexcept { return name_; }

 private:
  struct Chunk {
    std::vector<std::uint8_t> bytes;
    std::size_t filled = 0;
    std::size_t whole = 0;  ///< part of `filled`: bytes of whole records, which consumers see
  };
  void run() noexcept;
  Chunk* free_chunk() noexcept;
  Result<BytesRead> fill(Chunk& chunk);
  void frame(Chunk& chunk) noexcept;
  void publish() noexcept;
  void end(std::optional<std::string> error) noexcept;

  const std::unique_ptr<ByteStream> stream_;
  const std::unique_ptr<CaptureParser> framer_;
  const std::string name_;
  std::vector<Chunk> chunks_{kChunks};

  std::mutex mutex_;  // locked once a chunk, never per packet
  std::condition_variable changed_;
  std::vector<std::uint64_t> released_;  ///< per consumer: the first chunk it still needs
  std::uint64_t published_ = 0;
  bool stopping_ = false;
  bool ended_ = false;
  std::optional<std::string> read_error_;

  std::thread reader_;  // last member, because it uses everything above
};

}  // namespace parshall
