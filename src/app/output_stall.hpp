// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "base/doorbell.hpp"
#include "pipeline/output/outputs.hpp"

namespace parshall::cli {

/// Notices, in a thread of its own, that an ending run is blocked by the reader of an output.
class OutputStall {
 public:
  /// Calls `tell` once, after `is_ending` held, something waited and no output advanced for `patience`.
  OutputStall(const Outputs& outputs, std::chrono::milliseconds patience, std::function<bool()> is_ending,
              std::function<void()> tell);
  ~OutputStall();
  OutputStall(const OutputStall&) = delete;
  OutputStall& operator=(const OutputStall&) = delete;

 private:
  void run();

  const Outputs& outputs_;
  std::chrono::milliseconds patience_;
  std::function<bool()> is_ending_;
  std::function<void()> tell_;
  std::atomic<bool> going_{true};
  Doorbell end_;
  std::thread thread_;
};

}  // namespace parshall::cli
