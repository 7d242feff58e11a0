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

/// Parts of a source that need privileges to open. They are opened first; no packet is read yet. An error shows when
/// the part is asked for.
struct HeldSource {
  std::optional<Result<FileHandle>> file;
  std::optional<Result<std::unique_ptr<PacketSocket>>> socket;
  /// Listening metrics servers, opened early because a sandbox forbids listening. Unset: the run opens them.
  std::optional<Result<std::vector<std::unique_ptr<web::Server>>>> metrics;

  /// Returns true if nothing else of this source needs privileges, which holds for all sources but DPDK's.
  static bool can_hold(const SourcePlan& source);
  static HeldSource of(const Plan& plan);

  /// Returns the link types that the packets may have. For a capture these are all that can be decoded, since nothing
  /// was read.
  std::vector<LinkType> link_types(const SourcePlan& source) const;
};

/// Returns true if its devices run an XDP program in the kernel, which must be detached at the end.
bool uses_xdp(const SourcePlan& source);
/// Returns true if one of its devices is a DPDK device on PCI, whose driver may need any privilege.
bool is_on_pci(const SourcePlan& source);

/// Returns true if its packets come through Parshall's own packet sockets, without DPDK.
bool is_packet_socket(const SourcePlan& source);

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
Result<Input> open_input(const SourcePlan& source, const SessionOptions& session, HeldSource held = {});

}  // namespace parshall
