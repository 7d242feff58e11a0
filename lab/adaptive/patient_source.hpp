// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "traffic/paced_source.hpp"

namespace parshall::lab {

/// Delivers the packets of a paced source from some time on, including those that the paced source would miss.
class PatientSource final : public PacketSource {
 public:
  PatientSource(std::shared_ptr<const Trace> trace, Pace pace, std::uint64_t from_ns)
      : source_(std::move(trace), pace, kRoom, kTrafficStartNs, [this] { return now_ns_ += kStepNs; }) {
    source_.begin_at(from_ns);
  }
  std::size_t poll(std::span<RawPacket> out) noexcept override { return source_.poll(out); }

 private:
  static constexpr std::size_t kRoom = 1 << 16;
  static constexpr std::uint64_t kStepNs = 5'000;

  std::uint64_t now_ns_ = 0;
  PacedSource source_;
};

}  // namespace parshall::lab
