// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <absl/container/flat_hash_map.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/live/rows.hpp"
#include "base/random_seed.hpp"

namespace parshall::live {

/// Flows of the latest report, with their rates.
///
/// Rates are means over kWindowsS, in which older packets weigh less. The first interval counts in full.
///
/// Shape:  two reports, since rates are differences.
/// Cost:   load() is linear in the flows.
class Table {
 public:
  /// Returns the most memory that a table takes, and Rows::arrange() with it.
  static constexpr std::uint64_t memory_bytes(std::uint64_t flows, std::size_t columns, std::size_t texts) noexcept {
    constexpr std::uint64_t kIndexBytes = 16, kPlaceBytes = kMostText + 64, kOppositeBytes = 128;
    return 2 * Rows::memory_bytes(flows, columns, texts) + flows * kIndexBytes + Rows::arranging_bytes(flows) +
           flows * texts * (kPlaceBytes + kOppositeBytes);
  }

  /// Reads a report. Calls `between` every Rows::kSlice flows, which may use rows() of the previous report.
  void load(const Report& report, const std::function<void()>& between);

  /// Makes the report read last the one of rows(). Without this call the next load() starts over.
  void commit() noexcept { std::swap(now_, next_); }

  const Rows& rows() const noexcept { return now_; }

 private:
  /// Packet time since the previous report, and the weight that it has in the mean rates of each window.
  struct Passed {
    double interval_s;
    std::array<double, kWindowsS.size()> weights;
  };

  void take_in(const ReportFlow& flow, const Passed& passed);
  float place_of(std::size_t column, std::string_view text);
  void share_texts();
  void order_texts();
  void add_rates(const FlowRecord& record, const Passed& passed);
  const Rows::Entry* entry_before(const FlowKey& key);
  void index_entries();

  Rows now_, next_;
  std::vector<absl::flat_hash_map<std::string, std::size_t>> text_places_;  ///< in next_.texts, during load()
  std::vector<std::uint32_t> index_;  ///< position in now_.entries by key, plus 1; built at the first failed guess
  std::size_t expected_ = 0;          ///< flow of now_ that most likely comes next
  std::uint64_t seed_ = random_seed();
};

}  // namespace parshall::live
