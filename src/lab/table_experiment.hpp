// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/figures/batch_costs.hpp"
#include "base/figures/harness.hpp"
#include "base/result.hpp"
#include "lab/accuracy.hpp"
#include "lab/co_runners.hpp"
#include "lab/pages.hpp"
#include "lab/tables.hpp"
#include "lab/traffic.hpp"

namespace parshall::lab {

/// What `parshall bench tables` varies: every combination is measured.
struct TableSweep {
  std::vector<const TableUnderTest*> tables;
  std::vector<std::size_t> flows;  ///< distinct, each at most kMaxFlows; of random traffic
  std::vector<double> zipf{0};     ///< exponents; 0 is uniform; likewise
  std::vector<std::size_t> key_bytes{16};
  std::vector<std::size_t> value_bytes{16};
  std::vector<double> load{1};  ///< flows to the entries that the tables are made for
  std::vector<Task> tasks{Task::count};
  std::vector<std::size_t> cores{1};  ///< that do the same at the same time, on tables of their own
  std::vector<const Neighbour*> beside{&neighbours().front()};
  std::vector<std::size_t> batch{32};  ///< packets
  std::vector<Pages> pages{Pages::huge};

  std::optional<Traffic> traffic = {};  ///< instead of random traffic
  int rounds = 15;
  std::uint64_t seed = 1;
  std::size_t trace_packets = std::size_t{1} << 22;  ///< of random traffic
  std::size_t epoch_packets = 2'000'000;             ///< at most, and at most the traffic's
  double heavy_share = 0.001;                        ///< of an epoch's packets: more make a heavy hitter
  OfferedLoad offered = {};                          ///< for the lossless rate and the modelled loss

  static constexpr std::size_t kMaxFlows = std::size_t{1} << 26;
};

/// What the rows of one comparison have in common.
struct Combination {
  std::string traffic;
  std::size_t flows = 0;
  double zipf = 0;
  Shape shape;
  double load = 1;
  std::size_t cores = 1;
  std::string_view beside = "none";
  std::size_t batch = 32;
  Pages pages = Pages::huge;

  std::size_t entries() const noexcept;  ///< that tables are made for
};

/// One structure on one combination.
struct TableRow {
  const TableUnderTest* table;
  Combination of;
  Cost cost;  ///< per update, making the key and its hash included
  BatchFigures batches;
  std::size_t memory_bytes = 0, size = 0, places = 0;
  double rejected_share = 0;  ///< of the packets
  double mean_probes = 0;     ///< over the packets
  Accuracy accuracy = {};
};

/// Measures, and hands over the rows of each combination as it is done. Answers are checked before a clock starts: a
/// structure that counts wrongly is an error, and so is a combination that may need more memory or more cores than
/// there are. `stop` is asked before each round; the combination that it ends is not handed over. Returns how many
/// were.
Result<std::size_t> measure_tables(const TableSweep& sweep, const std::function<void(std::span<const TableRow>)>& done,
                                   const std::function<bool()>& stop);

/// How many combinations there are.
std::size_t combinations(const TableSweep& sweep) noexcept;

}  // namespace parshall::lab
