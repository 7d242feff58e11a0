// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/live/arrangement.hpp"
#include "app/live/interval.hpp"
#include "app/live/row_filter.hpp"
#include "pipeline/output/text/report.hpp"

namespace parshall::live {

/// One line of the table. NaN marks a value that does not exist.
struct Row {
  FlowKey key;
  std::uint64_t packets = 0, wire_bytes = 0;
  std::vector<float> values;  ///< mean pps and bit/s, then one per chosen column
  std::string text = {};      ///< that a group is made of, or the name of a host
};

/// Everything needed to draw without further look-ups: the summary, and the rows around the top of the screen.
struct View {
  ReportSummary summary;
  const Grouping* by = nullptr;        ///< what its rows are; null: flows
  std::vector<std::string> key_names;  ///< names of 0, 1, ... if groups are values of an enumeration
  /// Chosen ones; those of groups begin with in_bps and out_bps. Those of texts have the texts of `rows` as names.
  std::vector<ColumnInfo> columns;
  std::optional<double> pps, bps;  ///< rates of all packets over the last interval of packet time
  std::optional<Interval> lately;  ///< since the previous report; unset in a final one
  Arrangement arrangement;
  std::string filter_problem;  ///< why the filter cannot be used; empty: it is
  std::uint64_t matched = 0;   ///< rows that pass the filter
  std::uint64_t idle = 0;      ///< rows that were left out, since they had no packet in the window
  std::uint64_t first = 0;     ///< position of rows[0] among them
  std::vector<Row> rows;

  /// Returns whether its rows are of the wanted kind; after a change of that, a view follows a little later.
  bool is_of(const Arrangement& wanted) const noexcept {
    return by == wanted.by && arrangement.within == wanted.within;
  }
};

/// Returns whether live flows have all their packets: none was lost, and no flow was kept out of the table or evicted.
/// Else counts are lower bounds.
bool counts_all(const ReportSummary& summary) noexcept;

/// Returns a column's name without its unit, which is shown with each value.
std::string short_name_of(const ColumnInfo& column);

/// Flows, or groups of flows, of one report, to be shown in any order.
///
/// Shape: sizeof(Entry) + 4 * (2 * kWindowsS.size() + columns) bytes per flow, and each text once. Groups have
///        the rates of one window.
struct Rows {
  static constexpr std::uint64_t kMargin = 512;  ///< rows kept above and below the screen
  static constexpr std::size_t kSlice = 8192;    ///< rows between two calls of `superseded`

  struct Entry {
    FlowKey key;
    std::uint64_t packets, wire_bytes, first_ns, last_ns;
  };
  struct Sortable {
    double key;
    std::uint32_t entry;
  };

  ReportSummary summary;
  const Grouping* by = nullptr;
  std::vector<std::string> key_names;
  double now_s = 0;                 ///< packet time, which goes on by the clock while no packet comes
  std::vector<ColumnInfo> columns;  ///< as in View
  std::optional<double> pps, bps;
  double known_s = 0;                               ///< time since the first report, as in now_s
  std::array<double, kWindowsS.size()> mean_bps{};  ///< of all packets
  std::optional<Interval> lately;
  std::vector<Entry> entries;
  std::vector<float> values;  ///< stride() for each entry: pps and bit/s of each window, then columns
  /// For each column of texts, all of its texts in order; the value of an entry is its index there.
  std::vector<std::vector<std::string>> texts = {};
  std::vector<std::string> key_texts = {};  ///< that groups are made of, or names of hosts, for each entry, if any
  std::vector<float> key_places = {};       ///< places of texts that groups are made of, in their order

  static constexpr std::size_t kMostTexts = std::size_t{1} << 24;  ///< of a column: places are floats

  /// `texts` of the columns, or keys of groups, are texts.
  static constexpr std::uint64_t memory_bytes(std::uint64_t rows, std::size_t columns, std::size_t texts) noexcept {
    constexpr std::size_t kTextBytes = sizeof(std::string) + kMostText + 1;
    return rows * (sizeof(Entry) + (2 * kWindowsS.size() + columns) * sizeof(float) + texts * kTextBytes);
  }

  /// Returns the most memory that arrange() takes besides the view.
  static constexpr std::uint64_t arranging_bytes(std::uint64_t rows) noexcept { return rows * sizeof(Sortable); }

  std::size_t rates() const noexcept { return by == nullptr ? 2 * kWindowsS.size() : 2; }
  std::size_t stride() const noexcept { return rates() + columns.size(); }
  /// Returns pps and bit/s of an entry.
  std::span<const float, 2> rates_of(std::size_t entry, std::size_t window) const noexcept {
    return std::span<const float, 2>(values.data() + entry * stride() + (by == nullptr ? 2 * window : 0), 2);
  }
  /// Returns the values of its columns.
  std::span<const float> columns_of(std::size_t entry) const noexcept {
    return std::span(values).subspan(entry * stride() + rates(), columns.size());
  }

  /// Returns the rows that are wanted, or nullopt if `superseded` returned true because nobody wants them any more.
  /// Linear in the rows; sorts only those around the screen. Flows outside `wanted.within` are left out; for groups
  /// that was done when they were added up.
  std::optional<View> arrange(const Arrangement& wanted, const Networks& local,
                              const std::function<bool()>& superseded) const;

 private:
  bool is_idle(const Entry& entry, double window_s) const noexcept;
  View empty_view() const;
  std::vector<FilterColumn> filter_columns() const;
  Row row(std::uint32_t entry, std::size_t window) const;
  void name_texts(View& view) const;
  double sort_key(std::uint32_t entry, std::size_t column, std::size_t window) const noexcept;
  bool before(const Sortable& a, const Sortable& b, const Arrangement& wanted) const noexcept;
};

}  // namespace parshall::live
