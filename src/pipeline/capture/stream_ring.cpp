// SPDX-License-Identifier: Apache-2.0
#include "pipeline/capture/stream_ring.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <new>
#include <system_error>

namespace parshall {

Result<std::shared_ptr<StreamRing>> StreamRing::start(std::unique_ptr<ByteStream> stream,
                                                      std::vector<std::uint8_t> head,
                                                      std::unique_ptr<CaptureParser> framer, std::string name,
                                                      std::size_t consumers) {
  auto ring = std::make_shared<StreamRing>(std::move(stream), std::move(framer), std::move(name), consumers);
  for (Chunk& chunk : ring->chunks_) chunk.bytes.resize(std::max(kChunkBytes, head.size()));
  std::copy(head.begin(), head.end(), ring->chunks_[0].bytes.begin());
  ring->chunks_[0].filled = head.size();
  try {
    ring->reader_ = std::thread([raw = ring.get()] { raw->run(); });
  } catch (const std::system_error& error) {
    return Error{fmt::format("cannot read {}: no thread to be had: {}", ring->name(), error.what())};
  }
  return ring;
}

StreamRing::StreamRing(std::unique_ptr<ByteStream> stream, std::unique_ptr<CaptureParser> framer, std::string name,
                       std::size_t consumers)
    : stream_(std::move(stream)), framer_(std::move(framer)), name_(std::move(name)), released_(consumers, 0) {}

StreamRing::~StreamRing() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  stream_->stop();
  if (reader_.joinable()) reader_.join();
}

std::optional<std::span<const std::uint8_t>> StreamRing::chunk(std::uint64_t sequence,
                                                               std::chrono::microseconds patience) noexcept {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, patience, [&] { return published_ > sequence || ended_; })) return std::nullopt;
  if (published_ <= sequence) return std::nullopt;
  const Chunk& chunk = chunks_[sequence % kChunks];
  return std::span(chunk.bytes).first(chunk.whole);
}

bool StreamRing::ended_before(std::uint64_t sequence) noexcept {
  const std::lock_guard lock(mutex_);
  return ended_ && published_ <= sequence;
}

void StreamRing::release(std::size_t consumer, std::uint64_t sequence) noexcept {
  {
    const std::lock_guard lock(mutex_);
    released_[consumer] = sequence;
  }
  changed_.notify_all();
}

std::optional<std::string> StreamRing::read_error() noexcept {
  const std::lock_guard lock(mutex_);
  return read_error_;
}

void StreamRing::run() noexcept {
  // Signals are left to the thread that decides what to do about them.
  sigset_t every;
  ::sigfillset(&every);
  ::pthread_sigmask(SIG_BLOCK, &every, nullptr);

  using Outcome = BytesRead::Outcome;
  try {
    while (Chunk* chunk = free_chunk()) {
      BytesRead read;
      for (frame(*chunk); chunk->whole == 0 && !framer_->damage() && read.outcome != Outcome::end; frame(*chunk)) {
        const auto got = fill(*chunk);
        if (!got) return end(got.error().message);
        if (got->outcome == Outcome::stopped) return;
        read = *got;
      }
      const bool last = read.outcome == Outcome::end || framer_->damage();
      if (last) chunk->whole = chunk->filled;  // the consumers' parsers report what is wrong with the rest
      publish();
      if (last) return end(std::nullopt);
    }
  } catch (const std::bad_alloc&) {
    end("no memory for a larger record");
  }
}

/// Returns the next chunk of the ring, starting with what the last one left over; null if the ring is to stop.
StreamRing::Chunk* StreamRing::free_chunk() noexcept {
  std::unique_lock lock(mutex_);
  changed_.wait(
      lock, [&] { return stopping_ || published_ < *std::min_element(released_.begin(), released_.end()) + kChunks; });
  if (stopping_) return nullptr;
  Chunk& chunk = chunks_[published_ % kChunks];
  if (published_ == 0) return &chunk;
  const Chunk& last = chunks_[(published_ - 1) % kChunks];
  const auto tail = std::span(last.bytes).subspan(last.whole, last.filled - last.whole);
  if (chunk.bytes.size() < tail.size()) chunk.bytes.resize(last.bytes.size());
  std::copy(tail.begin(), tail.end(), chunk.bytes.begin());
  chunk.filled = tail.size();
  chunk.whole = 0;
  return &chunk;
}

/// Waits for the stream, and reads what has come with one read.
Result<BytesRead> StreamRing::fill(Chunk& chunk) {
  if (chunk.filled == chunk.bytes.size()) chunk.bytes.resize(2 * chunk.bytes.size());
  auto got = stream_->read(std::span(chunk.bytes).subspan(chunk.filled));
  if (got) chunk.filled += got->bytes;
  return got;
}

void StreamRing::frame(Chunk& chunk) noexcept {
  std::array<RawPacket, 64> ignored;
  for (;;) {
    const auto rest = std::span(chunk.bytes).subspan(chunk.whole, chunk.filled - chunk.whole);
    const Parsed parsed = framer_->parse(rest, ignored);
    if (parsed.bytes == 0) return;
    chunk.whole += parsed.bytes;
  }
}

void StreamRing::publish() noexcept {
  {
    const std::lock_guard lock(mutex_);
    ++published_;
  }
  changed_.notify_all();
}

void StreamRing::end(std::optional<std::string> error) noexcept {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    read_error_ = std::move(error);
  }
  changed_.notify_all();
}

}  // namespace parshall
