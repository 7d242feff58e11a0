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
#include "pipeline/output/column.hpp"
#include "pipeline/output/output_summary.hpp"
#include "pipeline/output/value.hpp"

namespace parshall {

/// Some flow records: of flows that ended, or at a run's end of those that were live.
///
/// Shape: one row per record, in each a value per column. Whoever is given it may look at it until he returns.
class RecordBatch {
 public:
  RecordBatch(std::span<const ColumnInfo> columns, std::span<const Value> values) noexcept
      : columns_(columns), values_(values) {}

  std::span<const ColumnInfo> columns() const noexcept { return columns_; }
  std::size_t rows() const noexcept { return values_.size() / columns_.size(); }
  std::span<const Value> operator[](std::size_t row) const noexcept {
    return values_.subspan(row * columns_.size(), columns_.size());
  }
  /// The values of so many rows, one row after the other.
  std::span<const Value> rows(std::size_t first, std::size_t count) const noexcept {
    return values_.subspan(first * columns_.size(), count * columns_.size());
  }

 private:
  std::span<const ColumnInfo> columns_;
  std::span<const Value> values_;
};

/// Who is told of what leaves a run while it goes on, by a thread of his own. Where a source waits it waits for him;
/// of another the newest is dropped while he is behind, and counted.
struct Subscriber {
  std::string name;                                              ///< in the account
  std::function<void(const RecordBatch& batch)> records = {};    ///< may be empty
  std::function<void(std::string_view event_json)> events = {};  ///< what tasks find, an object each; may be empty
};

/// What a run came to.
struct RunSummary {
  Accounting accounting;  ///< where every packet is
  double elapsed_s = 0;
  std::vector<OutputSummary> outputs;  ///< the plan's, then the subscribers': where every record is
  std::optional<std::string> damage;   ///< where the input broke: it was measured up to there
};

/// The monitor, for programs: one run of a plan.
class Monitor {
 public:
  /// Checks the plan, opens its source and its outputs, and begins. Errors say what to do, and name settings as the
  /// command line does.
  static Result<Monitor> start(const Plan& plan, std::vector<Subscriber> subscribers = {});

  Monitor(Monitor&& other) noexcept;
  Monitor& operator=(Monitor&& other) noexcept;
  ~Monitor();  ///< a run that has not finished ends here; what has not left it is lost

  std::span<const ColumnInfo> columns() const noexcept;
  const std::string& source() const noexcept;           ///< what is watched
  std::uint64_t memory_bytes() const noexcept;          ///< at most
  std::span<const std::string> notes() const noexcept;  ///< what its user would want to know of the plan

  // Any thread, while it runs:

  /// Cheap: what has been counted so far, but for what takes a walk over the tables (`parshall list counters`).
  Counters counters() const;
  std::vector<OutputSummary> outputs() const;
  /// How much of a capture file has been read, from 0 to 1; nothing of a stream, such as what is compressed, or of what
  /// is no file.
  std::optional<double> share_read() const noexcept;
  void stop() noexcept;

  // One thread:

  /// Whether it came to its end in that time: the source's, the plan's or stop()'s, and all subscribers had everything
  /// that ended.
  bool ended_within(std::chrono::milliseconds most);

  /// Waits for that, hands out the records of live flows, and says what it came to. Once, and last.
  RunSummary finish();

 private:
  struct State;
  explicit Monitor(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace parshall
