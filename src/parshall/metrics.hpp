// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/counters.hpp"
#include "base/result.hpp"
#include "pipeline/output/output_summary.hpp"

namespace parshall {

/// What a run has come to so far.
struct MetricsState {
  std::string source;
  double began_s = 0;  ///< when the counters were 0, since 1970
  Counters counters;
  std::vector<OutputSummary> outputs;
};

/// Counters and outputs' accounts for Prometheus, at http://HOST:PORT/metrics. No flow is in a label.
class MetricsServer {
 public:
  /// Listens. "HOST:PORT", an IPv6 address in [].
  static Result<std::unique_ptr<MetricsServer>> open(const std::string& address);
  virtual ~MetricsServer() = default;

  /// From now on, by threads of its own, until it is destroyed. `read`: any thread.
  virtual void serve(std::function<MetricsState()> read) = 0;
};

}  // namespace parshall
