// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/escaped.hpp"
#include "base/result.hpp"
#include "engine/session.hpp"
#include "parshall/plan.hpp"

namespace parshall {

/// Returns how many threads receive packets from a source.
std::size_t lanes_of(const SessionOptions& session) noexcept;

/// Returns how many packets a session takes at most.
std::uint64_t limit_of(const SessionOptions& session) noexcept;

/// Returns how many receive queues a device has, for each direction.
std::size_t queues_of(const SourcePlan& source, const SessionOptions& session) noexcept;

/// Returns why the queues of a device do not go with the session. `keeps_directions`: several queues give both
/// directions of a flow to the same worker.
std::optional<Error> queues_problem(const SourcePlan& source, const SessionOptions& session, bool keeps_directions);

/// Returns advice for packets that found a full queue of so many descriptors.
std::string remedy_for(std::uint32_t descriptors);

/// Makes an input of a packet socket or a DPDK port.
template <class Device>
Input device_input(const std::shared_ptr<Device>& device) {
  return {.description = escaped(device->description()),
          .sources = device->take_queues(),
          .dealing = Dealing::by_device,
          .owner = device,
          .device = [device] { return device->counters(); }};
}

}  // namespace parshall
