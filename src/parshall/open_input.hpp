// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "base/file_handle.hpp"
#include "base/result.hpp"
#include "engine/session.hpp"
#include "parshall/plan.hpp"
#include "pipeline/capture/packet.hpp"
#include "pipeline/capture/packet_socket.hpp"
#include "web/server.hpp"

namespace parshall {

/// What takes rights of a source, done before all else: nothing is read, and no packet comes yet. What could not be
/// opened says so when it is asked for.
struct HeldSource {
  std::optional<Result<FileHandle>> file;
  std::optional<Result<std::unique_ptr<PacketSocket>>> socket;
  /// Servers of metrics, which listen already: in a sandbox nobody can. Nothing: the run opens them.
  std::optional<Result<std::vector<std::unique_ptr<web::Server>>>> metrics;

  /// Whether nothing of this source is left that takes rights; else it is DPDK's.
  static bool can_hold(const SourcePlan& source);
  static HeldSource of(const Plan& plan);

  /// Of the packets that may come of it: of a capture all that are decoded, since nothing was read.
  std::vector<LinkType> link_types(const SourcePlan& source) const;
};

/// Whether its devices have a program of the kernel's (XDP), which has to be taken off again.
bool uses_xdp(const SourcePlan& source);
/// Whether one of its devices is of DPDK and on PCI, whose driver may want any right.
bool is_on_pci(const SourcePlan& source);

/// Returns true where its packets come through packet sockets of ours, without DPDK.
bool is_packet_socket(const SourcePlan& source);

/// Says why several interfaces cannot be read so.
std::optional<Error> several_problem(const SourcePlan& source);

/// Whether its packets may have a hash that the device computed.
bool may_have_nic_hashes(const SourcePlan& source);

/// Returns true where both directions of a flow come to one worker. Several queues of a device may part them; the
/// kernel hashes both alike, by addresses and ports of the outermost header (PACKET_FANOUT_HASH).
bool keeps_directions_together(const SourcePlan& source, const SessionOptions& session);

/// How many threads take packets of a source.
std::size_t lanes_of(const SessionOptions& session) noexcept;

/// Of a device, in each direction; and receive queues.
std::size_t workers_of(const SourcePlan& source, const SessionOptions& session) noexcept;
std::size_t queues_of(const SourcePlan& source, const SessionOptions& session) noexcept;

/// Opens the source that the plan names, or goes on with what was held of it, with as many lanes as the thread model
/// asks.
Result<Input> open_input(const SourcePlan& source, const SessionOptions& session, HeldSource held = {});

}  // namespace parshall
