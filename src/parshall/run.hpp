// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "parshall/held.hpp"
#include "parshall/task_tally.hpp"
#include "parshall/wiring.hpp"
#include "pipeline/output/outputs.hpp"
#include "web/server.hpp"

namespace parshall {

/// Runs one plan: owns its source, its session and its outputs.
class Run {
 public:
  using OpenInput = std::function<Result<Input>()>;
  using SourceOpened = std::function<std::optional<Error>()>;

  /// Opens the plan's source, then its outputs. `open` replaces the source if given; `held` holds what is already open.
  /// `opened` is called between the two steps. At that moment the run has no other threads than those of a device or of
  /// a decompressor. For a source that cannot wait, memory is allocated before it opens.
  static Result<std::unique_ptr<Run>> open(const Plan& plan, Wiring wiring, const OpenInput& open = {},
                                           const SourceOpened& opened = {}, Held held = {});
  ~Run();

  /// Gives access to the outputs, so that more than the plan's can be added until start().
  Outputs& outputs() noexcept { return outputs_; }
  const Wiring& wiring() const noexcept { return wiring_; }  ///< its tasks have gone to the session
  /// Returns true if a full output makes the source wait; false if the output drops.
  bool waits() const noexcept { return waits_; }

  /// Returns why the filter matches none of the source's packets, if that is known before they come. start() reports it
  /// too.
  std::optional<Error> filter_problem() const;

  std::optional<Error> start();

  // These may be called after start():

  Session& session() noexcept { return *session_; }
  std::uint64_t memory_bytes() const noexcept { return memory_bytes_; }  ///< upper bound
  const std::string& description() const noexcept { return description_; }
  /// Returns the flows that its tables have room for; 0 if there are no tables.
  std::uint64_t capacity() const noexcept {
    return options_.table == nullptr ? 0 : options_.stage.flows * options_.workers;
  }
  /// Returns how many groups, such as hosts, an output keeps. Where no flow is evicted or ends early, a capture has no
  /// more: a flow has two ends.
  std::uint64_t most_groups() const noexcept { return waits_ ? 2 * capacity() : capacity(); }

  /// Returns the fraction of a capture file that all workers have read, from 0 to 1. Returns nullopt for a stream, or
  /// anything that is not a file. Any thread.
  std::optional<double> share_read() const noexcept;

  /// Returns the state of the run in Prometheus' format. Any thread.
  std::string metrics() const;

  /// Returns true if the plan's time is over; only for sources without packet times of their own.
  bool time_is_up() const noexcept;

  /// Waits at most this long. Returns true if the source ended, its time was up or it was stopped, and all results that
  /// left are written.
  bool ended_within(std::chrono::milliseconds most);

  /// Waits for the end, hands out the live flows and the account, and reports which results no output has taken.
  Report finish();

 private:
  Run(Wiring wiring, bool waits);

  TaskSets tasks_;
  const Wiring wiring_;
  SessionOptions options_;  ///< those of the wiring, with tables that fit the input
  bool waits_;
  Outputs outputs_;
  Session::Stages stages_;
  std::optional<Input> input_;
  std::string description_;
  std::vector<const PacketSource*> sources_;  ///< owned by the session
  std::uint64_t memory_bytes_ = 0;
  std::optional<Session> session_;
  std::chrono::steady_clock::time_point began_;
  double began_s_ = 0;              ///< seconds since 1970
  std::optional<TaskTally> tally_;  ///< unset: there are no tasks
  std::vector<std::unique_ptr<web::Server>> metrics_;
};

}  // namespace parshall
