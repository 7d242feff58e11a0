// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/statistics/tcp_totals.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "pipeline/measure/tcp/connection.hpp"

namespace parshall {
namespace {

constexpr std::array<StatisticKind, 7> kTotals{{
    {"retransmissions", "retransmissions", "segments retransmitted", false, true},
    {"fast_retransmissions", "fast_retransmissions", "segments retransmitted after duplicate acknowledgements", false,
     true},
    {"spurious_retransmissions", "spurious_retransmissions", "segments retransmitted after they were acknowledged",
     false, true},
    {"out_of_order", "out_of_order", "segments that arrived late", false, true},
    {"lost_segments", "lost_segments", "segments after one that was not captured", false, true},
    {"duplicate_acks", "duplicate_acks", "duplicate acknowledgements", false, true},
    {"zero_windows", "zero_windows", "packets with a receive window of zero", false, true},
}};
constexpr std::array<TcpMark, kTotals.size()> kMarks{
    TcpMark::retransmission, TcpMark::fast_retransmission, TcpMark::spurious_retransmission,
    TcpMark::out_of_order,   TcpMark::lost_segment,        TcpMark::duplicate_ack,
    TcpMark::zero_window,
};

class TcpTotals final : public Statistic {
 public:
  TcpTotals(std::vector<TcpMark> marks, std::vector<Column> columns)
      : marks_(std::move(marks)), columns_(std::move(columns)) {}

  Variable variable() const noexcept override { return Variable::tcp; }
  std::size_t row_bytes() const noexcept override { return (kCounts + marks_.size() * sizeof(Count) + 7) / 8 * 8; }
  std::span<const Column> columns() const noexcept override { return columns_; }

  void update(const SampleBatch& batch) const noexcept override {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      std::byte* const row = batch.state(i);
      add<std::uint64_t>(row, 1);
      if (batch.samples[i] == 0) continue;
      for (std::size_t m = 0; m < marks_.size(); ++m)
        add<Count>(at(row, m), (batch.samples[i] & static_cast<std::uint64_t>(marks_[m])) != 0 ? 1 : 0);
    }
  }

  void read(const std::byte* row, std::span<std::optional<double>> out) const noexcept override {
    const bool was_followed = load<std::uint64_t>(row) != 0;
    for (std::size_t m = 0; m < marks_.size(); ++m)
      out[m] = was_followed ? std::optional(static_cast<double>(load<Count>(at(row, m)))) : std::nullopt;
  }

  bool mergeable() const noexcept override { return true; }
  void merge(std::byte* into, const std::byte* from) const noexcept override {
    add(into, load<std::uint64_t>(from));
    for (std::size_t m = 0; m < marks_.size(); ++m) add(at(into, m), load<Count>(at(from, m)));
  }

 private:
  using Count = std::uint32_t;
  static constexpr std::size_t kCounts = 8;  ///< bytes before the counts

  template <class Byte>
  static Byte* at(Byte* row, std::size_t mark) noexcept {
    return row + kCounts + mark * sizeof(Count);
  }
  template <class T>
  static T load(const std::byte* from) noexcept {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  template <class T>
  static void add(std::byte* to, T more) noexcept {
    more = static_cast<T>(more + load<T>(to));
    std::memcpy(to, &more, sizeof more);
  }

  std::vector<TcpMark> marks_;
  std::vector<Column> columns_;
};

std::vector<std::unique_ptr<Statistic>> make_tcp_totals(Variable variable, std::span<const std::string> whats,
                                                        const StatisticOptions& /*options*/) {
  std::vector<TcpMark> marks;
  std::vector<Column> columns;
  for (const std::string& what : whats) {
    const StatisticKind* const kind = kind_named(kTotals, what);
    marks.push_back(kMarks[static_cast<std::size_t>(kind - kTotals.data())]);
    columns.push_back(make_column(variable, what, *kind));
  }
  std::vector<std::unique_ptr<Statistic>> made;
  made.push_back(std::make_unique<TcpTotals>(std::move(marks), std::move(columns)));
  return made;
}

}  // namespace

constinit const StatisticFamily kTcpTotalsFamily{kTotals, /*of_amounts=*/false,
                                                 [](std::string_view what) { return asked_of(kTotals, what); },
                                                 make_tcp_totals, Variable::tcp};

}  // namespace parshall
