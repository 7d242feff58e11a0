// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/figures/harness.hpp"
#include "lab/company.hpp"
#include "lab/dpdk/receive_worker.hpp"
#include "lab/receive_experiment.hpp"

namespace parshall::lab {

/// A receive side on its cores, and all that is learnt of it while the rounds go on. The first core is the one that is
/// measured; the others do the same while it is.
class ReceiveCrew {
 public:
  /// Throws std::bad_alloc.
  ReceiveCrew(const ReceiveShape& shape, std::span<const int> other_cores, std::uint64_t seed);

  /// Receives on all cores at once, and says what became wrongly of packets or buffers.
  std::optional<Error> check();

  /// Once it is checked.
  Variant variant();

  /// Ends the rounds. An error where not every packet and buffer that there was is there.
  Result<ReceiveRow> leave(const Cost& cost);

 private:
  void observe();
  std::optional<Error> wrong(std::string what) const;
  std::optional<Error> check_stock();

  ReceiveShape shape_;
  std::span<const int> other_cores_;
  BufferPools pools_;
  std::vector<std::unique_ptr<ReceiveWorker>> workers_;
  std::unique_ptr<Company> company_;  // ends before what it runs
  std::vector<double> polling_cycles_, pool_cycles_;
};

}  // namespace parshall::lab
