// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <span>

#include "pipeline/capture/capture_parser.hpp"
#include "pipeline/capture/source.hpp"
#include "pipeline/capture/stream_ring.hpp"

namespace parshall {

/// Reads a capture that arrives as a stream. Several sources share one ring, and each delivers every packet.
///
/// poll() delivers what has come. If there is nothing, it waits up to kPatience, so that a polling worker does not take
/// the processor away from the reader.
class StreamSource final : public PacketSource {
 public:
  static constexpr std::chrono::microseconds kPatience{500};

  StreamSource(std::shared_ptr<StreamRing> ring, std::size_t consumer, std::unique_ptr<CaptureParser> parser)
      : ring_(std::move(ring)), consumer_(consumer), parser_(std::move(parser)) {}
  StreamSource(const StreamSource&) = delete;
  StreamSource& operator=(const StreamSource&) = delete;
  ~StreamSource() override;

  std::size_t poll(std::span<RawPacket> out) noexcept override;
  bool exhausted() const noexcept override { return exhausted_; }
  Counters counters() noexcept override { return parser_->losses(); }
  std::optional<Error> damage() const override;

 private:
  std::shared_ptr<StreamRing> ring_;
  std::size_t consumer_;
  std::unique_ptr<CaptureParser> parser_;
  std::span<const std::uint8_t> rest_;  ///< part of the current chunk
  std::uint64_t next_chunk_ = 0;        ///< number of the chunk behind the current one
  std::uint64_t needed_by_last_poll_ = 0;
  std::uint64_t released_ = 0;
  bool exhausted_ = false;
};

}  // namespace parshall
