// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace parshall::lab {

/// Threads of a classifying system, and what they share.
///
/// Each queue has a thread that sniffs (polls, decodes, hashes) and, behind a ring, one that handles flows. Each
/// process has one that classifies, behind a ring of jobs. In run-to-completion, each queue has one thread for all
/// three.
///
/// Source: Santiago del Rio et al., Wire-speed statistical classification of network traffic on commodity hardware, IMC
///         2012, figure 2.
///         IMC 2012, figure 2.
struct ClassifyShape {
  std::string_view name, help;
  std::size_t interfaces = 1;
  std::size_t queues = 1;        ///< per interface
  std::size_t chains = 1;        ///< each with a flow table and job rings of its own; a process in the paper
  bool inlined = false;          ///< run-to-completion
  std::size_t lock_packets = 0;  ///< packets handled for each lock of a shared table; 0: no table is shared

  std::size_t all_queues() const noexcept { return interfaces * queues; }
  std::size_t chain_of(std::size_t queue) const noexcept { return queue % chains; }
  std::size_t threads() const noexcept { return inlined ? all_queues() : 2 * all_queues() + chains; }
};

/// Lists all shapes.
std::span<const ClassifyShape> classify_shapes() noexcept;

/// Placement of threads. chain: threads of chain k run on core k, or those of queue k if queues share a chain; the
/// classifying thread runs with the first queue. This is figure 2 of the paper, whose processors have four cores each.
/// any: the kernel decides.
enum class Placement : std::uint8_t { chain, any };
inline constexpr std::string_view kPlacementNames[] = {"chain", "any"};

/// Task of a thread. A run-to-completion thread does all three, and counts as flow handling.
enum class Module : std::uint8_t { sniffing, flow_handling, classification };
inline constexpr std::size_t kModules = 3;

}  // namespace parshall::lab
