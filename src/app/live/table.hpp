// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/live/interval.hpp"
#include "app/live/state.hpp"
#include "pipeline/output/text/report.hpp"

namespace parshall::live {

/// One line of the table. NaN marks a value that does not exist.
struct Row {
  FlowKey key;
  std::uint64_t packets = 0, wire_bytes = 0;
  std::vector<float> values;  ///< pps and bit/s over the last interval, then one per chosen column
};

/// Everything needed to draw without further look-ups: the summary, and the rows around the top of the screen.
struct View {
  ReportSummary summary;
  std::vector<ColumnInfo> columns;  ///< chosen ones
  std::optional<double> pps, bps;   ///< rates of all packets over the last interval of packet time
  std::optional<Interval> lately;   ///< since the previous report; unset in a final one
  Arrangement arrangement;
  std::uint64_t matched = 0;  ///< rows that pass the filter
  std::uint64_t first = 0;    ///< position of rows[0] among them
  std::vector<Row> rows;
};

/// Formats the text that a filter is matched against: "tcp 10.0.0.1:80 [2001:db8::1]:443".
std::string filter_text(const FlowKey& key);

/// Holds the flows of the latest report, to be shown in any order.
///
/// Shape:  64 + 4 * (2 + columns) bytes per flow, for two reports: rates are differences.
/// Cost:   load() is linear in the flows. So is arrange(), which sorts only the rows around the screen.
class Table {
 public:
  static constexpr std::uint64_t kMargin = 512;  ///< rows kept above and below the screen
  static constexpr std::size_t kSlice = 8192;    ///< flows between two calls of `between` and of `superseded`

  /// Returns the most memory that a table takes.
  static constexpr std::uint64_t memory_bytes(std::uint64_t flows, std::size_t columns) noexcept {
    constexpr std::uint64_t kIndexBytes = 16;
    return flows * (2 * (sizeof(Flow) + (2 + columns) * sizeof(float)) + kIndexBytes + sizeof(Sortable));
  }

  /// Reads a report. Calls `between` every kSlice flows, which may call arrange() for the previous report.
  void load(const Report& report, const std::function<void()>& between);

  /// Makes the report read last the one that arrange() shows. Without this call the next load() starts over.
  void commit() noexcept { std::swap(now_, next_); }

  /// Returns the view, or nullopt if `superseded` returned true because it is no longer wanted.
  std::optional<View> arrange(const Arrangement& wanted, const std::function<bool()>& superseded) const;

  /// Returns the first `most` flows of each numeric column, each flow once, in no order.
  View leaders(std::size_t most) const;

 private:
  struct Flow {
    FlowKey key;
    std::uint64_t packets, wire_bytes, first_ns;
  };
  struct Contents {
    ReportSummary summary;
    std::vector<ColumnInfo> columns;
    std::optional<double> pps, bps;
    std::optional<Interval> lately;
    std::vector<Flow> flows;
    std::vector<float> values;

    std::size_t stride() const noexcept { return 2 + columns.size(); }
  };
  struct Sortable {
    double key;
    std::uint32_t flow;
  };

  void take_in(const ReportFlow& flow, double interval_s);
  const Flow* flow_before(const FlowKey& key);
  void index_flows();
  View empty_view() const;
  Row row(std::uint32_t flow) const;
  double sort_key(std::uint32_t flow, std::size_t column) const noexcept;
  bool before(const Sortable& a, const Sortable& b, const Arrangement& wanted) const noexcept;

  Contents now_, next_;
  std::vector<std::uint32_t> index_;  ///< position in now_.flows by key, plus 1; built at the first failed guess
  std::size_t expected_ = 0;          ///< flow of now_ that most likely comes next
};

}  // namespace parshall::live
