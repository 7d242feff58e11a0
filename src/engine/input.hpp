// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/counters.hpp"
#include "pipeline/capture/interface_packets.hpp"
#include "pipeline/capture/source.hpp"

namespace parshall {

/// How an input's packets come to several workers.
enum class Dealing : std::uint8_t {
  all_to_each,  ///< each takes its share by hash
  in_turns,   ///< its sources have them one after the other, whichever is asked: workers hand each to who has its flow
  by_flow,    ///< its sources tell who has which (InputShare): a flow comes to one worker alone
  by_device,  ///< as it spreads them, perhaps those of one flow to several
};

/// Packets for a session, one source per lane.
struct Input {
  std::string description;
  std::vector<std::unique_ptr<PacketSource>> sources;
  Dealing dealing = Dealing::by_device;
  std::shared_ptr<void> owner;       ///< what the sources need to stay alive
  std::function<Counters()> device;  ///< totals of the device; empty where there is none
  /// Packets that forwarders counted as sent and devices dropped; empty where packets go nowhere.
  std::function<std::uint64_t()> dropped_in_sending = {};
  std::vector<std::string> interface_names = {};  ///< by RawPacket::interface
  /// Returns the packets of each interface, where there are several.
  std::function<std::vector<InterfacePackets>()> interfaces = {};
  std::string remedy = {};         ///< what helps where packets found its queue full, for people
  std::uint64_t memory_bytes = 0;  ///< that the sources have mapped for packets, and what it takes to deal them

  /// That all packets are of, where all sources know; else none.
  std::vector<LinkType> link_types() const {
    std::vector<LinkType> all;
    for (const auto& source : sources) {
      const std::vector<LinkType> types = source->link_types();
      if (types.empty()) return {};
      all.insert(all.end(), types.begin(), types.end());
    }
    return all;
  }
};

}  // namespace parshall
