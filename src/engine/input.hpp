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

/// How packets of an input are distributed to several workers.
enum class Dealing : std::uint8_t {
  all_to_each,  ///< all workers read everything; each takes its partition by hash
  in_turns,     ///< workers take turns at reading, and pass each packet to the worker of its flow
  by_flow,      ///< the sources partition the flows (InputPart): each flow comes to one worker
  by_device,    ///< the device spreads them, perhaps packets of one flow to several workers
};

/// Packets for a session, one source per lane.
struct Input {
  std::string description;
  std::vector<std::unique_ptr<PacketSource>> sources;
  Dealing dealing = Dealing::by_device;
  std::shared_ptr<void> owner;       ///< keeps alive what the sources need
  std::function<Counters()> device;  ///< totals of the device; empty if there is none
  /// Returns the packets that forwarders counted as sent and devices dropped; empty if nothing is forwarded.
  std::function<std::uint64_t()> dropped_in_sending = {};
  std::vector<std::string> interface_names = {};  ///< by RawPacket::interface
  /// Returns the packets of each interface, if there are several.
  std::function<std::vector<InterfacePackets>()> interfaces = {};
  std::string remedy = {};         ///< advice to users if packets found its queue full
  std::uint64_t memory_bytes = 0;  ///< memory that the sources mapped for packets, and for distributing them

  /// Returns the link types of all packets; empty if a source does not know.
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
