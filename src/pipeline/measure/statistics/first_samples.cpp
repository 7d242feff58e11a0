// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/statistics/first_samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>

namespace parshall {
namespace {

constexpr std::array<StatisticKind, 1> kSamples{{
    {"<1-16>", "1", "first, second, ... sample", true, true},
}};

/// Returns how many packets bring that many samples: a flow's first packet has neither gap nor inter-arrival time.
std::uint32_t packets_for(Variable variable, std::size_t samples) noexcept {
  return static_cast<std::uint32_t>(samples) + (variable == Variable::gap || variable == Variable::iat ? 1 : 0);
}

template <class Value>
class FirstSamples final : public Statistic {
 public:
  FirstSamples(Variable variable, std::vector<std::size_t> asked, std::vector<Column> columns)
      : variable_(variable),
        asked_(std::move(asked)),
        columns_(std::move(columns)),
        most_(*std::ranges::max_element(asked_)) {}

  Variable variable() const noexcept override { return variable_; }
  std::size_t row_bytes() const noexcept override { return (kValues + most_ * sizeof(Value) + 7) / 8 * 8; }
  std::span<const Column> columns() const noexcept override { return columns_; }
  std::optional<std::uint32_t> first_packets() const noexcept override { return packets_for(variable_, most_); }

  void update(const SampleBatch& batch) const noexcept override {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      std::byte* const row = batch.state(i);
      const std::uint64_t count_and_one = load<std::uint64_t>(row), count = count_and_one - 1;
      if (count >= most_) continue;  // also true for a flow that existed before
      const auto value = static_cast<Value>(std::min<std::uint64_t>(batch.samples[i], kLargest));
      std::memcpy(row + kValues + count * sizeof value, &value, sizeof value);
      const std::uint64_t more = count_and_one + 1;
      std::memcpy(row, &more, sizeof more);
    }
  }

  void begin(std::byte* row) const noexcept override {
    constexpr std::uint64_t kNoneYet = 1;
    std::memcpy(row, &kNoneYet, sizeof kNoneYet);
  }

  void read(const std::byte* row, std::span<std::optional<double>> out) const noexcept override {
    const std::uint64_t count_and_one = load<std::uint64_t>(row);
    for (std::size_t i = 0; i < asked_.size(); ++i) {
      out[i].reset();
      if (asked_[i] < count_and_one)
        out[i] = static_cast<double>(load<Value>(row + kValues + (asked_[i] - 1) * sizeof(Value)));
    }
  }

  bool mergeable() const noexcept override { return false; }
  void merge(std::byte*, const std::byte*) const noexcept override {}

 private:
  static constexpr std::size_t kValues = 8;  ///< bytes before the values
  static constexpr std::uint64_t kLargest = std::numeric_limits<Value>::max();

  template <class T>
  static T load(const std::byte* at) noexcept {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }

  Variable variable_;
  std::vector<std::size_t> asked_;  ///< numbers of the requested samples, from 1
  std::vector<Column> columns_;
  std::size_t most_;
};

std::optional<std::size_t> number_of(std::string_view what) {
  std::size_t number = 0;
  const auto [rest, problem] = std::from_chars(what.data(), what.data() + what.size(), number);
  const bool is_number = problem == std::errc() && rest == what.data() + what.size() && !what.starts_with('0');
  return is_number && number >= 1 && number <= kMostFirstSamples ? std::optional(number) : std::nullopt;
}

std::optional<AskedStatistic> find_sample(std::string_view what) {
  const auto number = number_of(what);
  return number ? std::optional(AskedStatistic{fmt::format("{}", *number), kSamples.data()}) : std::nullopt;
}

std::vector<std::unique_ptr<Statistic>> make_first_samples(Variable variable, std::span<const std::string> whats,
                                                           const StatisticOptions& /*options*/) {
  std::vector<std::size_t> asked;
  std::vector<Column> columns;
  for (const std::string& what : whats) {
    asked.push_back(*number_of(what));
    columns.push_back(make_column(variable, what, kSamples[0]));
    columns.back().help = fmt::format("sample {} of the {}", what, info_of(variable).phrase);
  }
  std::vector<std::unique_ptr<Statistic>> made;
  if (variable == Variable::gap || variable == Variable::iat)
    made.push_back(std::make_unique<FirstSamples<std::uint64_t>>(variable, std::move(asked), std::move(columns)));
  else
    made.push_back(std::make_unique<FirstSamples<std::uint32_t>>(variable, std::move(asked), std::move(columns)));
  return made;
}

constexpr std::array<StatisticKind, 1> kFirst{{{"1", "1", "name", true, true}}};

/// Replaces characters that are special in text formats, since the kernel allows almost any interface name.
std::string plain(std::string name) {
  const auto is_special = [](char c) { return c <= ' ' || c > '~' || c == '"' || c == '\\' || c == ','; };
  std::ranges::replace_if(name, is_special, '_');
  return name;
}

std::vector<std::unique_ptr<Statistic>> make_interface(Variable variable, std::span<const std::string> /*whats*/,
                                                       const StatisticOptions& options) {
  Column column = make_column(variable, kFirst[0].pattern, kFirst[0]);
  for (const std::string& name : options.interfaces) column.values.push_back(plain(name));
  std::vector<std::unique_ptr<Statistic>> made;
  made.push_back(
      std::make_unique<FirstSamples<std::uint32_t>>(variable, std::vector<std::size_t>{1}, std::vector{column}));
  return made;
}

}  // namespace

constinit const StatisticFamily kFirstSamplesFamily{kSamples, /*of_amounts=*/false, find_sample, make_first_samples};
constinit const StatisticFamily kInterfaceFamily{kFirst, /*of_amounts=*/false,
                                                 [](std::string_view what) { return asked_of(kFirst, what); },
                                                 make_interface, Variable::interface};

}  // namespace parshall
