// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/capture/frame_sink.hpp"
#include "pipeline/capture/source.hpp"

namespace parshall {

using Bytes = std::vector<std::uint8_t>;

/// A captured packet and its bytes.
struct Captured {
  Bytes bytes;
  std::uint64_t time_ns = 0;
  std::uint32_t wire_bytes = 0;  ///< 0: as many as there are
  LinkType link_type = LinkType::ethernet;

  RawPacket packet() const {
    const auto captured = static_cast<std::uint32_t>(bytes.size());
    return {.data = bytes.data(),
            .time_ns = time_ns,
            .captured_bytes = captured,
            .wire_bytes = wire_bytes != 0 ? wire_bytes : captured,
            .link_type = link_type};
  }
};

/// Hands out packets, at most so many at a time, and ends.
class ListSource final : public PacketSource {
 public:
  explicit ListSource(std::vector<Captured> packets, std::size_t most = 1000)
      : packets_(std::move(packets)), most_(most) {}
  std::size_t poll(std::span<RawPacket> out) noexcept override {
    const std::size_t count = std::min({out.size(), most_, packets_.size() - at_});
    for (RawPacket& packet : out.first(count)) packet = packets_[at_++].packet();
    return count;
  }
  bool exhausted() const noexcept override { return at_ == packets_.size(); }

 private:
  std::vector<Captured> packets_;
  std::size_t most_, at_ = 0;
};

/// Keeps what it is sent; takes and reserves no more than it is told.
class ListSink final : public FrameSink {
 public:
  struct Sent {
    Bytes bytes;
    std::uint64_t time_ns;
  };

  explicit ListSink(std::vector<Sent>& sent) : sent_(sent) {}
  std::size_t reserve(std::span<OutFrame> frames) noexcept override {
    reserved_.clear();
    for (OutFrame& frame : frames.first(std::min(frames.size(), most_reserved))) {
      reserved_.push_back({Bytes(frame.bytes, 0xEE), frame.time_ns});
      frame.data = reserved_.back().bytes.data();
    }
    return reserved_.size();
  }
  std::size_t send(std::size_t count) noexcept override {
    const std::size_t taken = std::min({count, most_taken, most_in_all - sent_.size()});
    for (std::size_t i = 0; i < taken; ++i) sent_.push_back(reserved_[i]);
    for (auto& gone : reserved_) std::ranges::fill(gone.bytes, 0xDD);  // a device's memory is not ours any more
    return taken;
  }
  std::uint32_t longest_frame() const noexcept override { return longest; }
  std::uint32_t shortest_frame() const noexcept override { return shortest; }
  std::optional<Error> damage() const override {
    return sent_.size() == most_in_all ? std::optional(Error{"full"}) : std::nullopt;
  }

  std::size_t most_reserved = 1000, most_taken = 1000, most_in_all = 1u << 30;
  std::uint32_t longest = 1514, shortest = 0;

 private:
  std::vector<Sent>& sent_;
  std::deque<Sent> reserved_;
};

}  // namespace parshall
