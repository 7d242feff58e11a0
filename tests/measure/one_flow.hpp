// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "pipeline/measure/registry.hpp"

namespace parshall {

/// The row of one flow, fed in batches as the worker would.
class OneFlow {
 public:
  explicit OneFlow(const std::vector<std::string>& names, const StatisticOptions& options = {})
      : set_(make(names, options)), words_(set_.row_bytes() / sizeof(std::uint64_t)) {
    for (const auto& [statistic, offset] : set_.statistics()) statistic->begin(row() + offset);
  }

  void add(std::span<const std::uint64_t> samples) {
    for (std::size_t at = 0; at < samples.size(); at += kStatBatch) {
      const auto batch = samples.subspan(at, std::min(kStatBatch, samples.size() - at));
      for (const auto& [statistic, offset] : set_.statistics()) {
        std::array<std::byte*, kStatBatch> rows;
        rows.fill(row() + offset);
        statistic->update({std::span<std::byte* const>(rows).first(batch.size()), 0, batch});
      }
    }
  }

  std::optional<double> operator[](const std::string& column) const {
    std::vector<std::optional<double>> values(set_.columns().size());
    set_.read(row(), values);
    const auto found = std::ranges::find(set_.columns(), column, &Column::name);
    if (found == set_.columns().end()) throw std::out_of_range("no column " + column);
    return values[static_cast<std::size_t>(found - set_.columns().begin())];
  }

  void merge(const OneFlow& from) { set_.merge(row(), from.row()); }
  const StatisticSet& set() const { return set_; }
  std::byte* row() { return reinterpret_cast<std::byte*>(words_.data()); }
  const std::byte* row() const { return reinterpret_cast<const std::byte*>(words_.data()); }

 private:
  static StatisticSet make(const std::vector<std::string>& names, const StatisticOptions& options) {
    auto set = make_statistics(names, options);
    if (!set) throw std::invalid_argument(set.error().message);
    return *std::move(set);
  }

  StatisticSet set_;
  std::vector<std::uint64_t> words_;
};

}  // namespace parshall
