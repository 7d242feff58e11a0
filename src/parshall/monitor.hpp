// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/counters.hpp"
#include "base/result.hpp"
#include "parshall/plan.hpp"
#include "pipeline/output/accounting.hpp"
#include "pipeline/output/output_summary.hpp"
#include "pipeline/output/records/column.hpp"
#include "pipeline/output/records/value.hpp"

namespace parshall {

/// Flow records in a batch: of flows that ended, or, at the end of a run, of flows still live.
///
/// Shape:  one row per record, each with a value per column. Valid only until the callback that gets it returns.
class RecordBatch {
 public:
  RecordBatch(std::span<const ColumnInfo> columns, std::span<const Value> values) noexcept
      : columns_(columns), values_(values) {}

  std::span<const ColumnInfo> columns() const noexcept { return columns_; }
  std::size_t rows() const noexcept { return values_.size() / columns_.size(); }
  std::span<const Value> operator[](std::size_t row) const noexcept {
    return values_.subspan(row * columns_.size(), columns_.size());
  }
  /// Returns the values of `count` rows starting at `first`, row after row.
  std::span<const Value> rows(std::size_t first, std::size_t count) const noexcept {
    return values_.subspan(first * columns_.size(), count * columns_.size());
  }

 private:
  std::span<const ColumnInfo> columns_;
  std::span<const Value> values_;
};

/// Receives records and events while a run goes on, in a thread of its own. If the subscriber is slower than the run, a
/// source that can wait does so; with any other source, the newest records are dropped and counted.
struct Subscriber {
  std::string name;                                              ///< its name in the account
  std::function<void(const RecordBatch& batch)> records = {};    ///< may be empty
  std::function<void(std::string_view event_json)> events = {};  ///< gets each task event as JSON; may be empty
};

/// Result of a run.
struct RunSummary {
  Accounting accounting;  ///< accounts for every packet
  double elapsed_s = 0;
  std::vector<OutputSummary> outputs;  ///< accounts for every record: the plan's outputs, then the subscribers
  std::optional<std::string> damage;   ///< error in the input, which was measured up to there
};

/// Runs one plan; this is the monitor's public interface.
class Monitor {
 public:
  /// Checks the plan, opens its source and its outputs, and starts the run. Error messages say what to do, and call
  /// settings by their command-line names.
  static Result<Monitor> start(const Plan& plan, std::vector<Subscriber> subscribers = {}, PlanTexts texts = {});

  Monitor(Monitor&& other) noexcept;
  Monitor& operator=(Monitor&& other) noexcept;
  ~Monitor();  ///< ends a run that has not finished; records that have not left it are lost

  std::span<const ColumnInfo> columns() const noexcept;
  const std::string& source() const noexcept;           ///< name of the source
  std::uint64_t memory_bytes() const noexcept;          ///< upper bound of the memory used
  std::span<const std::string> notes() const noexcept;  ///< remarks about the plan for its user

  // These may be called from any thread during the run:

  /// Returns the counters so far. Cheap, because it leaves out counters that need a walk over the tables (`parshall
  /// list counters`).
  Counters counters() const;
  std::vector<OutputSummary> outputs() const;
  /// Returns the fraction of a capture file that has been read, from 0 to 1. Returns nullopt for a compressed file,
  /// another stream, or anything that is not a file.
  std::optional<double> share_read() const noexcept;
  void stop() noexcept;

  // These must be called from one thread:

  /// Waits at most this long, and returns true if the run has ended: its source, its plan or stop() ended it, and all
  /// subscribers have received every record that ended.
  bool ended_within(std::chrono::milliseconds most);

  /// Waits for the end, hands out the records of live flows, and returns the result. Call it once, as the last
  /// function.
  RunSummary finish();

 private:
  struct State;
  explicit Monitor(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace parshall
