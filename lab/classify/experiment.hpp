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
#include "lab/classify/crew.hpp"
#include "lab/classify/traffic.hpp"

namespace parshall::lab {

/// Parameters of `parshall bench classify`. Shapes and placements are compared in rows; each cap is a comparison.
struct ClassifySweep {
  std::vector<const ClassifyShape*> shapes;
  std::vector<Placement> placements{Placement::chain};
  std::vector<std::uint32_t> caps{0};  ///< limits for frames, in bytes; 0: none
  std::shared_ptr<ClassifyTraffic> traffic;
  double seconds = 5;      ///< wall time of a run
  bool find_rate = false;  ///< true: searches the highest load without loss; false: all runs are at full load
  std::size_t queue_packets = 4096;
  std::size_t ring_packets = 65536;
  std::size_t flows = 1 << 22;  ///< capacity of a table
  std::uint64_t idle_ns = 1'000'000'000;
  const TableEntry* table = nullptr;
  std::string model;  ///< name for reports
  std::shared_ptr<const Classifier> classifier;
  int rounds = 15;
  std::uint64_t seed = 1;
};

/// Largest share of lost packets that counts as no loss.
inline constexpr double kLossless = 1e-3;

/// One shape in one placement. Rates are totals of all interfaces, by the wall clock.
struct ClassifyRow {
  const ClassifyShape* shape;
  Placement placement;
  std::size_t cores;     ///< most cores that its threads ran on
  std::string affinity;  ///< "0,0,0": core of each thread: sniffing and flow handling by queue, then classification
  Estimate offered_mpps, sniffed_mpps, handled_mpps;
  Estimate classified_mpps;  ///< packets of flows with a class
  Estimate classified_kfps;  ///< thousand such flows a second
  double told_share = 0;     ///< share of these that classifying threads decided before the flow was read; median
  Estimate lost_share;       ///< share of the offered packets, lost at the device or at a full ring
  double missed_share = 0, ring_full_share = 0;  ///< shares of the offered packets, over all runs
  std::uint64_t refused_jobs = 0;                ///< over all runs
  std::array<Estimate, kModules> cpu_share;      ///< CPU time relative to wall time, summed over its threads
  Estimate cpu_share_of_all;
  std::array<Estimate, kModules> cpu_ns;  ///< per packet that the module handled; for the last two, that flow handling
                                          ///< handled
  Estimate cpu_ns_of_all;
  std::string thread_cpu;  ///< percent of each thread in the last run: "97+96"
  std::uint64_t memory_bytes = 0;
  std::uint64_t resident_bytes = 0;       ///< memory of the process; the most of all runs
  Estimate lossless_mpps, lossless_gbps;  ///< highest load found without loss; 0 if none
  double lossless_load = 0;               ///< relative to an interface's full load; the last one found
  std::size_t samples = 0;
};

/// Formats a name such as "1I-2Q-1P, any".
std::string name_of(const ClassifyRow& row);

/// Interleaves the rows in rounds, each in a random order, and passes on the rows of each cap. Error: a chain of a run
/// does not balance, or there is not enough memory. `stop` is called before each run; what it ends is not passed on.
/// Returns the number of comparisons.
Result<std::size_t> measure_classifying(const ClassifySweep& sweep,
                                        const std::function<void(std::span<const ClassifyRow>)>& done,
                                        const std::function<bool()>& stop);

}  // namespace parshall::lab
