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
#include "lab/cores/co_runners.hpp"
#include "lab/tables/accuracy.hpp"
#include "lab/tables/pages.hpp"
#include "lab/tables/tables.hpp"
#include "lab/tables/traffic.hpp"

namespace parshall::lab {

/// Parameters of `parshall bench tables`; every combination is measured.
struct TableSweep {
  std::vector<const TableUnderTest*> tables;
  std::vector<std::size_t> flows;  ///< distinct flows of random traffic, each number at most kMaxFlows
  std::vector<double> zipf{0};     ///< exponents of random traffic; 0 is uniform
  std::vector<std::size_t> key_bytes{16};
  std::vector<std::size_t> value_bytes{16};
  std::vector<double> load{1};  ///< flows per entry that the tables are made for
  std::vector<Task> tasks{Task::count};
  std::vector<std::size_t> cores{1};  ///< cores that do the same at the same time, on tables of their own
  std::vector<const Neighbour*> beside{&neighbours().front()};
  std::vector<std::size_t> batch{32};  ///< in packets
  std::vector<Pages> pages{Pages::huge};

  std::optional<Traffic> traffic = {};  ///< replaces random traffic
  int rounds = 15;
  std::uint64_t seed = 1;
  std::size_t trace_packets = std::size_t{1} << 22;  ///< for random traffic
  std::size_t epoch_packets = 2'000'000;             ///< upper bound; also limited by the traffic
  double heavy_share = 0.001;                        ///< share of an epoch's packets above which a flow is a heavy
                                                     ///< hitter
  OfferedLoad offered = {};                          ///< for the lossless rate and the modelled loss

  static constexpr std::size_t kMaxFlows = std::size_t{1} << 26;
};

/// Common parameters of the rows of one comparison.
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

  std::size_t entries() const noexcept;  ///< entries that tables are made for
};

/// One structure on one combination.
struct TableRow {
  const TableUnderTest* table;
  Combination of;
  Cost cost;  ///< per update, including making the key and its hash
  BatchFigures batches;
  std::size_t memory_bytes = 0, size = 0, places = 0;
  double rejected_share = 0;  ///< share of the packets
  double mean_probes = 0;     ///< mean over the packets
  Accuracy accuracy = {};
};

/// Measures, and passes on the rows of each combination when it is done. Answers are checked before a clock starts.
/// Error: a structure counts wrongly, or a combination may need more memory or cores than there are. `stop` is called
/// before each round; the combination that it ends is not passed on. Returns the number of combinations.
Result<std::size_t> measure_tables(const TableSweep& sweep, const std::function<void(std::span<const TableRow>)>& done,
                                   const std::function<bool()>& stop);

/// Returns the number of combinations.
std::size_t combinations(const TableSweep& sweep) noexcept;

}  // namespace parshall::lab
