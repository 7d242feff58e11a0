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
#include "parshall/open_input.hpp"
#include "parshall/task_tally.hpp"
#include "parshall/wiring.hpp"
#include "pipeline/output/outputs.hpp"
#include "web/server.hpp"

namespace parshall {

/// One run of a plan: its source, its session, and all that what leaves it goes to.
class Run {
 public:
  using OpenInput = std::function<Result<Input>()>;
  using SourceOpened = std::function<std::optional<Error>()>;

  /// Opens the source that the plan names, or what `open` gives in its place, or goes on with what is held of it; then
  /// the plan's outputs. Of a source that cannot wait the memory is there first. `opened` is called between the two, by
  /// the only thread that there is of the run but those of a device, or of what decompresses a capture.
  static Result<std::unique_ptr<Run>> open(const Plan& plan, Wiring wiring, const OpenInput& open = {},
                                           const SourceOpened& opened = {}, HeldSource held = {});
  ~Run();

  /// For more than the plan names, until start().
  Outputs& outputs() noexcept { return outputs_; }
  /// Whether outputs wait rather than drop what they have no room for.
  bool waits() const noexcept { return waits_; }

  /// Why the filter is for none of the source's packets, where that is known before they come; start() says so, too.
  std::optional<Error> filter_problem() const;

  std::optional<Error> start();

  // From then on:

  Session& session() noexcept { return *session_; }
  std::uint64_t memory_bytes() const noexcept { return memory_bytes_; }  ///< at most
  const std::string& description() const noexcept { return description_; }
  /// That its tables have room for; 0 where there are none.
  std::uint64_t capacity() const noexcept {
    const SessionOptions& session = wiring_.session;
    return session.table == nullptr ? 0 : session.monitor.flows * session.workers;
  }

  /// How much of a capture file has been read, by all workers, from 0 to 1; nothing of a stream, or of what is no file.
  /// Any thread.
  std::optional<double> share_read() const noexcept;

  /// How it goes, as Prometheus reads it. Any thread.
  std::string metrics() const;

  /// Whether the plan's time is over, of a source that has none of its own.
  bool time_is_up() const noexcept;

  /// Whether in that time the source came to its end, its time was up or it was stopped, and everything that left is
  /// written.
  bool ended_within(std::chrono::milliseconds most);

  /// Waits for that, then hands out what is live, and the account, and reports what no output has taken.
  Report finish();

 private:
  Run(Wiring wiring, bool waits);

  Wiring wiring_;
  bool waits_;
  Outputs outputs_;
  Session::Monitors monitors_;
  std::optional<TaskSets> tasks_;
  std::optional<Input> input_;
  std::string description_;
  std::vector<const PacketSource*> sources_;  ///< the session's
  std::uint64_t memory_bytes_ = 0;
  std::optional<Session> session_;
  std::chrono::steady_clock::time_point began_;
  double began_s_ = 0;              ///< since 1970
  std::optional<TaskTally> tally_;  ///< none: there are no tasks
  std::vector<std::unique_ptr<web::Server>> metrics_;
};

}  // namespace parshall
