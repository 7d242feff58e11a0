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

/// One flow, fed in batches as the worker would, and the row of its record.
class OneFlow {
 public:
  explicit OneFlow(const std::vector<std::string>& names, const StatisticOptions& options = {})
      : set_(make(names, options)),
        row_(words(set_.row_bytes())),
        state_(words(set_.state_bytes())),
        carries_(words(set_.carry_bytes())) {
    for (const auto& placed : set_.statistics()) placed.statistic->begin(state() + placed.offset);
    set_.write_row(state(), carries(), row());
  }

  void add(std::span<const std::uint64_t> samples) {
    for (std::size_t at = 0; at < samples.size(); at += kStatBatch) {
      const auto batch = samples.subspan(at, std::min(kStatBatch, samples.size() - at));
      for (const auto& placed : set_.statistics()) {
        std::array<std::byte*, kStatBatch> rows;
        rows.fill(state() + placed.offset);
        const CarryRows carry_rows{state(), set_.state_bytes(), carries(), set_.carry_bytes()};
        const auto all = std::span<std::byte* const>(rows).first(batch.size());
        placed.statistic->update({all, 0, batch, &carry_rows, placed.carry_offset});
      }
    }
    set_.write_row(state(), carries(), row());
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
  std::byte* row() { return reinterpret_cast<std::byte*>(row_.data()); }
  const std::byte* row() const { return reinterpret_cast<const std::byte*>(row_.data()); }
  std::byte* state() { return reinterpret_cast<std::byte*>(state_.data()); }
  std::byte* carries() { return reinterpret_cast<std::byte*>(carries_.data()); }

 private:
  static StatisticSet make(const std::vector<std::string>& names, const StatisticOptions& options) {
    auto set = make_statistics(names, options);
    if (!set) throw std::invalid_argument(set.error().message);
    return *std::move(set);
  }

  static std::vector<std::uint64_t> words(std::size_t bytes) {
    return std::vector<std::uint64_t>(bytes / sizeof(std::uint64_t));
  }

  StatisticSet set_;
  std::vector<std::uint64_t> row_, state_, carries_;
};

}  // namespace parshall
