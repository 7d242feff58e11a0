// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "compare/clocks.hpp"
#include "compare/passed.hpp"
#include "compare/tap.hpp"

namespace parshall {

/// Says what two taps are compared by.
enum class ComparedBy : std::uint8_t { captures, interfaces, records };

struct Comparison {
  ComparedBy by = ComparedBy::captures;
  Passed there, back;
  Clocks clocks;
  std::vector<ComparedFlow> flows;  ///< those with the most lost packets first, then by packets sent
  std::uint64_t ended_flows = 0;    ///< flows that are part of the totals alone

  Passed& total(Way way) noexcept { return way == Way::there ? there : back; }

  /// Puts the flows in order, and leaves out those without packets.
  void sort_flows();

  /// Returns whether the order of packets is known, and so which of them others overtook.
  bool knows_order() const noexcept { return by != ComparedBy::records; }
};

/// Compares what two taps saw. Takes their packets.
Comparison compare(Tap& up, Tap& down, const FlowNumbers& flows);

}  // namespace parshall
