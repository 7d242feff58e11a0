// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>

#include "compare/report/columns.hpp"
#include "web/access.hpp"
#include "web/server.hpp"

namespace parshall::web {

/// The web page of a comparison of two interfaces, which also serves its numbers: as JSON, and as Prometheus' metrics.
class ComparePage {
 public:
  static Result<std::unique_ptr<ComparePage>> open(const Access& access);

  /// Starts to answer. Returns where it is, for the user.
  std::string begin();

  void publish(const Compared& compared);

 private:
  ComparePage(std::unique_ptr<Server> server, std::string token)
      : server_(std::move(server)), token_(std::move(token)) {}

  std::unique_ptr<Server> server_;
  std::string token_;  ///< to tell the user; empty: there is none, or they know it
};

/// Returns the counters of a comparison in Prometheus' text format. They count intervals that are over, so that no
/// later packet changes them.
std::string compare_metrics(const Compared& compared);

}  // namespace parshall::web
