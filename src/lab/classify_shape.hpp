// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace parshall::lab {

/// Which threads a classifying system is made of, and what they share.
///
/// Each queue has a thread that sniffs (polls, decodes, hashes) and, behind a ring, one that handles flows; each
/// process one that classifies, behind a ring of jobs. Run-to-completion: each queue has one thread, which does all
/// three.
///
/// Source: Santiago del Rio et al., Wire-speed statistical classification of network traffic on commodity hardware,
///         IMC 2012, figure 2.
struct ClassifyShape {
  std::string_view name, help;
  std::size_t interfaces = 1;
  std::size_t queues = 1;        ///< of an interface
  std::size_t chains = 1;        ///< each with a flow table and rings of jobs of its own: a process in the paper
  bool inlined = false;          ///< run-to-completion
  std::size_t lock_packets = 0;  ///< that a shared table is locked for at a time; 0: no table is shared

  std::size_t all_queues() const noexcept { return interfaces * queues; }
  std::size_t chain_of(std::size_t queue) const noexcept { return queue % chains; }
  std::size_t threads() const noexcept { return inlined ? all_queues() : 2 * all_queues() + chains; }
};

/// Every one there is: one line each.
std::span<const ClassifyShape> classify_shapes() noexcept;

/// Where threads run. chain: those of chain k, or of queue k where queues share one, on core k, and the thread that
/// classifies with the first queue's: figure 2 of the paper, each of whose processors has four cores. any: wherever the
/// kernel puts them.
enum class Placement : std::uint8_t { chain, any };
inline constexpr std::string_view kPlacementNames[] = {"chain", "any"};

/// What its threads do. A run-to-completion thread is of all three, and counted as one that handles flows.
enum class Module : std::uint8_t { sniffing, flow_handling, classification };
inline constexpr std::size_t kModules = 3;

}  // namespace parshall::lab
