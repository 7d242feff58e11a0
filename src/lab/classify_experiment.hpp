// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/figures/estimate.hpp"
#include "base/result.hpp"
#include "lab/classify_crew.hpp"
#include "lab/classify_traffic.hpp"

namespace parshall::lab {

/// What `parshall bench classify` varies: shapes and placements are compared in rows, each cap is a comparison.
struct ClassifySweep {
  std::vector<const ClassifyShape*> shapes;
  std::vector<Placement> placements{Placement::chain};
  std::vector<std::uint32_t> caps{0};  ///< of frames, in bytes; 0: none
  std::shared_ptr<ClassifyTraffic> traffic;
  double seconds = 5;      ///< of wall time, a run
  bool find_rate = false;  ///< looks for the highest load without loss; else all runs are at full load
  std::size_t queue_packets = 4096;
  std::size_t ring_packets = 65536;
  std::size_t flows = 1 << 22;  ///< of a table
  std::uint64_t idle_ns = 1'000'000'000;
  const TableEntry* table = nullptr;
  std::string model;  ///< for reports
  std::shared_ptr<const Classifier> classifier;
  int rounds = 15;
  std::uint64_t seed = 1;
};

/// Losses up to this share of the packets count as none.
inline constexpr double kLossless = 1e-3;

/// One shape in one placement. Rates are of all interfaces together, by the wall clock.
struct ClassifyRow {
  const ClassifyShape* shape;
  Placement placement;
  std::size_t cores;     ///< that its threads ran on, at most
  std::string affinity;  ///< "0,0,0": core of each thread, sniffing and flow handling by queue, then classification
  Estimate offered_mpps, sniffed_mpps, handled_mpps;
  Estimate classified_mpps;  ///< packets of flows that have a class
  Estimate classified_kfps;  ///< thousand such flows a second
  double told_share = 0;     ///< of these, told by threads that classify before anybody read the flow; median
  Estimate lost_share;       ///< of what was offered: at the device or at a full ring
  double missed_share = 0, ring_full_share = 0;  ///< of what was offered, over all runs
  std::uint64_t refused_jobs = 0;                ///< over all runs
  std::array<Estimate, kModules> cpu_share;      ///< sum over its threads of CPU time to wall time
  Estimate cpu_share_of_all;
  std::array<Estimate, kModules> cpu_ns;  ///< per packet that the module worked on; of flow handling for the last two
  Estimate cpu_ns_of_all;
  std::string thread_cpu;  ///< percent of each thread, of the last run: "97+96"
  std::uint64_t memory_bytes = 0;
  std::uint64_t resident_bytes = 0;       ///< of the process, most of all runs
  Estimate lossless_mpps, lossless_gbps;  ///< the highest load that was found without loss; 0 where none was
  double lossless_load = 0;               ///< of an interface's full load; the last one found
  std::size_t samples = 0;
};

/// "1I-2Q-1P, any"
std::string name_of(const ClassifyRow& row);

/// Interleaves the rows in rounds, each in an order of its own, and hands over those of each
/// cap. Each run's chains have to balance: else it is an error, as is more memory than there is. `stop` is asked before
/// each run; what it ends is not handed over. Returns how many comparisons were.
Result<std::size_t> measure_classifying(const ClassifySweep& sweep,
                                        const std::function<void(std::span<const ClassifyRow>)>& done,
                                        const std::function<bool()>& stop);

}  // namespace parshall::lab
