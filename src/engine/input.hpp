// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/counters.hpp"
#include "pipeline/capture/source.hpp"

namespace parshall {

/// Packets for a session, one source per lane.
struct Input {
  std::string description;
  std::vector<std::unique_ptr<PacketSource>> sources;
  bool every_source_sees_all = false;  ///< so each worker takes its share by hash; else the device spreads flows
  std::shared_ptr<void> owner;         ///< what the sources need to stay alive
  std::function<Counters()> device;    ///< totals of the device; empty where there is none
  /// Packets that forwarders counted as sent and devices dropped; empty where packets go nowhere.
  std::function<std::uint64_t()> dropped_in_sending = {};
  std::uint64_t memory_bytes = 0;  ///< that the sources have mapped for packets
};

}  // namespace parshall
