// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/statistics/flag_counts.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace parshall {
namespace {

constexpr StatisticKind count_of(std::string_view flag, std::string_view help) noexcept {
  return {.pattern = flag, .example = flag, .help = help, .has_unit = false, .is_count = true};
}
/// In the order of their bits (RFC 9293).
constexpr std::array kFlags{count_of("fin", "packets with FIN"), count_of("syn", "packets with SYN"),
                            count_of("rst", "packets with RST"), count_of("psh", "packets with PSH"),
                            count_of("ack", "packets with ACK"), count_of("urg", "packets with URG"),
                            count_of("ece", "packets with ECE"), count_of("cwr", "packets with CWR")};

class FlagCounts final : public Statistic {
 public:
  FlagCounts(std::vector<unsigned> bits, std::vector<Column> columns)
      : bits_(std::move(bits)), columns_(std::move(columns)) {}

  Variable variable() const noexcept override { return Variable::tcp_flags; }
  std::size_t row_bytes() const noexcept override { return bits_.size() * sizeof(std::uint64_t); }
  std::span<const Column> columns() const noexcept override { return columns_; }

  void update(const SampleBatch& batch) const noexcept override {
    for (std::size_t i = 0; i < batch.size(); ++i)
      for (std::size_t b = 0; b < bits_.size(); ++b) add(count_at(batch.state(i), b), batch.samples[i] >> bits_[b] & 1);
  }

  void read(const std::byte* row, std::span<std::optional<double>> out) const noexcept override {
    for (std::size_t b = 0; b < bits_.size(); ++b) out[b] = static_cast<double>(load(count_at(row, b)));
  }

  bool mergeable() const noexcept override { return true; }
  void merge(std::byte* into, const std::byte* from) const noexcept override {
    for (std::size_t b = 0; b < bits_.size(); ++b) add(count_at(into, b), load(count_at(from, b)));
  }

 private:
  template <class Byte>
  static Byte* count_at(Byte* row, std::size_t number) noexcept {
    return row + number * sizeof(std::uint64_t);
  }
  static std::uint64_t load(const std::byte* from) noexcept {
    std::uint64_t count;
    std::memcpy(&count, from, sizeof count);
    return count;
  }
  static void add(std::byte* to, std::uint64_t more) noexcept {
    more += load(to);
    std::memcpy(to, &more, sizeof more);
  }

  std::vector<unsigned> bits_;  ///< of the requested flags, the least significant is 0
  std::vector<Column> columns_;
};

std::vector<std::unique_ptr<Statistic>> make_flag_counts(Variable variable, std::span<const std::string> whats,
                                                         const StatisticOptions& /*options*/) {
  std::vector<unsigned> bits;
  std::vector<Column> columns;
  for (const std::string& what : whats) {
    const StatisticKind* const kind = kind_named(kFlags, what);
    bits.push_back(static_cast<unsigned>(kind - kFlags.data()));
    columns.push_back(make_column(variable, what, *kind));
  }
  std::vector<std::unique_ptr<Statistic>> made;
  made.push_back(std::make_unique<FlagCounts>(std::move(bits), std::move(columns)));
  return made;
}

}  // namespace

constinit const StatisticFamily kFlagCountsFamily{kFlags, /*of_amounts=*/false,
                                                  [](std::string_view what) { return asked_of(kFlags, what); },
                                                  make_flag_counts, Variable::tcp_flags};

}  // namespace parshall
