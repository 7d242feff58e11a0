// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <memory>
#include <optional>

#include "base/result.hpp"
#include "engine/session.hpp"
#include "parshall/held.hpp"
#include "parshall/plan.hpp"
#include "pipeline/capture/packet_socket.hpp"

namespace parshall {

/// Returns true if its devices run an XDP program in the kernel, which must be detached at the end.
bool uses_xdp(const SourcePlan& source);
/// Returns true if one of its devices is a DPDK device on PCI, whose driver may need any privilege.
bool is_on_pci(const SourcePlan& source);

/// Returns true if its packets come through Parshall's own packet sockets, without DPDK.
bool is_packet_socket(const SourcePlan& source);

/// Opens the packet sockets of a kernel interface.
Result<std::unique_ptr<PacketSocket>> open_socket(const SourcePlan& source, std::size_t queues);

/// Returns why several interfaces cannot be read in the way the plan asks.
std::optional<Error> several_problem(const SourcePlan& source);

/// Returns true if its packets may carry a hash that the device computed.
bool may_have_nic_hashes(const SourcePlan& source);

/// Returns true if both directions of a flow reach the same worker. Several queues of a device may separate them. The
/// kernel hashes both alike, by addresses and ports of the outermost header (PACKET_FANOUT_HASH).
bool keeps_directions_together(const SourcePlan& source, const SessionOptions& session);

/// Returns how many threads receive packets from a source.
std::size_t lanes_of(const SessionOptions& session) noexcept;

/// Returns the workers of a device, for each direction; queues_of() returns its receive queues.
std::size_t workers_of(const SourcePlan& source, const SessionOptions& session) noexcept;
std::size_t queues_of(const SourcePlan& source, const SessionOptions& session) noexcept;

/// Opens the source that the plan names, or continues with the parts in `held`, with as many lanes as the thread model
/// needs.
Result<Input> open_input(const SourcePlan& source, const SessionOptions& session, Held held = {});

}  // namespace parshall
