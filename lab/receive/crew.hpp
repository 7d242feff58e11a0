// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/figures/harness.hpp"
#include "lab/cores/company.hpp"
#include "lab/dpdk/receive_worker.hpp"
#include "lab/receive/experiment.hpp"

namespace parshall::lab {

/// A receive side on its cores, with all results during the rounds. The first core is measured while the others do the
/// same.
class ReceiveCrew {
 public:
  /// Throws std::bad_alloc.
  ReceiveCrew(const ReceiveShape& shape, std::span<const int> other_cores, std::uint64_t seed);

  /// Receives on all cores at once; returns what is wrong with packets or buffers.
  std::optional<Error> check();

  /// Returns the variant; call it after check().
  Variant variant();

  /// Ends the rounds. Error: a packet or a buffer is missing.
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
