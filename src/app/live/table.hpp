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
#include "app/live/row_filter.hpp"
#include "app/live/state.hpp"
#include "pipeline/output/text/report.hpp"

namespace parshall::live {

/// One line of the table. NaN marks a value that does not exist.
struct Row {
  FlowKey key;
  std::uint64_t packets = 0, wire_bytes = 0;
  std::vector<float> values;  ///< mean pps and bit/s, then one per chosen column
};

/// Everything needed to draw without further look-ups: the summary, and the rows around the top of the screen.
struct View {
  ReportSummary summary;
  const Grouping* by = nullptr;        ///< what its rows are; null: flows
  std::vector<std::string> key_names;  ///< names of 0, 1, ... if groups are values of an enumeration
  std::vector<ColumnInfo> columns;     ///< chosen ones; those of groups begin with in_bps and out_bps
  std::optional<double> pps, bps;      ///< rates of all packets over the last interval of packet time
  std::optional<Interval> lately;      ///< since the previous report; unset in a final one
  Arrangement arrangement;
  std::string filter_problem;  ///< why the filter cannot be used; empty: it is
  std::uint64_t matched = 0;   ///< rows that pass the filter
  std::uint64_t idle = 0;      ///< rows that were left out, since they had no packet in the window
  std::uint64_t first = 0;     ///< position of rows[0] among them
  std::vector<Row> rows;
};

/// Returns a column's name without its unit, which is shown with each value.
std::string short_name_of(const ColumnInfo& column);

/// Holds the flows, or groups of flows, of the latest report, to be shown in any order.
///
/// Rates of flows are those between two reports, or means over a longer time in which older packets weigh less.
///
/// Shape:  72 + 4 * (2 + columns) bytes per row, for two reports: rates are differences.
/// Cost:   load() is linear in the flows. So is arrange(), which sorts only the rows around the screen.
class Table {
 public:
  static constexpr std::uint64_t kMargin = 512;  ///< rows kept above and below the screen
  static constexpr std::size_t kSlice = 8192;    ///< flows between two calls of `between` and of `superseded`

  /// Returns the most memory that a table takes.
  static constexpr std::uint64_t memory_bytes(std::uint64_t flows, std::size_t columns) noexcept {
    constexpr std::uint64_t kIndexBytes = 16;
    return flows * (2 * (sizeof(Flow) + (4 + columns) * sizeof(float)) + kIndexBytes + sizeof(Sortable));
  }

  /// Reads a report. Rates of flows are means over about `window_s`; 0: since the previous report. Groups come with
  /// their rates. Calls `between` every kSlice rows, which may call arrange() for the previous report, and `take` with
  /// each row and its rates.
  void load(const Report& report, const std::function<void()>& between, double window_s = 0,
            const std::function<void(const ReportFlow&)>& take = {});

  /// Makes the report read last the one that arrange() shows. Without this call the next load() starts over.
  void commit() noexcept { std::swap(now_, next_); }

  /// Returns the view, or nullopt if `superseded` returned true because it is no longer wanted.
  std::optional<View> arrange(const Arrangement& wanted, const std::function<bool()>& superseded) const;

  /// Returns the first `most` rows of each numeric column, each row once, in no order. Rows without a packet in
  /// `window_s` are left out; 0: none is.
  View leaders(std::size_t most, double window_s = 0) const;

 private:
  struct Flow {
    FlowKey key;
    std::uint64_t packets, wire_bytes, first_ns, last_ns;
  };
  struct Contents {
    ReportSummary summary;
    const Grouping* by = nullptr;
    std::vector<std::string> key_names;
    std::size_t directions = 0;  ///< rates in and out among the columns: 2 or 0
    double now_s = 0;            ///< packet time, which goes on by the clock while no packet comes
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

  void take_in(const ReportFlow& flow, const RowRates& rates);
  /// Packet time since the previous report, and the weight that it has in mean rates.
  struct Passed {
    double interval_s, weight;
  };
  RowRates rates_of(const FlowRecord& record, const Passed& passed);
  const Flow* flow_before(const FlowKey& key);
  void index_flows();
  bool is_idle(const Flow& flow, double window_s) const noexcept;
  View empty_view() const;
  std::vector<FilterColumn> filter_columns() const;
  Row row(std::uint32_t flow) const;
  double sort_key(std::uint32_t flow, std::size_t column) const noexcept;
  bool before(const Sortable& a, const Sortable& b, const Arrangement& wanted) const noexcept;

  Contents now_, next_;
  std::vector<std::uint32_t> index_;  ///< position in now_.flows by key, plus 1; built at the first failed guess
  std::size_t expected_ = 0;          ///< flow of now_ that most likely comes next
};

}  // namespace parshall::live
