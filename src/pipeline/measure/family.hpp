// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/measure/statistic.hpp"

namespace parshall {

/// Name, unit and description of a variable.
struct VariableInfo {
  std::string_view name;
  std::string_view unit;
  std::string_view phrase;
  ColumnType type;        ///< type of one sample
  bool is_amount = true;  ///< true if means and percentiles make sense
};

inline constexpr std::array<VariableInfo, kVariables> kVariableInfo{{
    {"gap", "packets", "number of packets of other flows between two packets of this flow", kUint64},
    {"iat", "ns", "inter-arrival time", kUint64},
    {"size", "bytes", "frame length on the wire", kUint32},
    {"ip_size", "bytes", "length in the IP header", kUint32},
    {"tcp_flags", "", "TCP flag bits", kFlags16, /*is_amount=*/false},
    {"ttl", "", "time to live, or hop limit", kUint8},
    {"dscp", "", "differentiated services code point", kUint8, /*is_amount=*/false},
    {"vlan", "", "outermost VLAN identifier", kUint16, /*is_amount=*/false},
    {"icmp_type_code", "", "ICMP type * 256 + code", kUint16, /*is_amount=*/false},
    {"interface", "", "interface on which the flow was first seen", kEnum8, /*is_amount=*/false},
    {"rtt", "ns", "round-trip time from here to the sender and back", kUint64},
    {"tcp", "", "flow's TCP packets", kUint64, /*is_amount=*/false},
}};
static_assert(!kVariableInfo.back().name.empty(), "each Variable has a line");

constexpr const VariableInfo& info_of(Variable variable) noexcept {
  return kVariableInfo[static_cast<std::size_t>(variable)];
}

/// Figure of a variable: the second half of a statistic's name.
struct StatisticKind {
  std::string_view pattern;  ///< "mean", or "p<percentile>"
  std::string_view example;  ///< a spelling that matches: "mean", "p99"
  std::string_view help;
  bool has_unit;           ///< false for pure numbers such as the skewness
  bool is_sample = false;  ///< true: one of the samples, with their type; false: a real number
  bool is_count = false;   ///< true: a number of packets
};

inline ColumnType type_of(Variable variable, const StatisticKind& measure) noexcept {
  if (measure.is_count) return kUint64;
  return measure.is_sample ? info_of(variable).type : kFloat32;
}

inline Column make_column(Variable variable, std::string_view what, const StatisticKind& measure) {
  const VariableInfo& info = info_of(variable);
  Column column{std::string(info.name) + "_" + std::string(what), std::string(measure.help)};
  if (!measure.is_count) (column.help += " of the ") += info.phrase;
  if (measure.has_unit && !info.unit.empty()) (column.name += "_") += column.unit = info.unit;
  // These header fields rarely change within a flow, so the first packet's value has the plain name.
  if (is_of_side(variable) && !info.is_amount && what == "1") column.name = info.name;
  column.type = type_of(variable, measure);
  return column;
}

/// A requested measure in its canonical spelling ("p99.0" becomes "p99").
struct AskedStatistic {
  std::string what;
  const StatisticKind* measure;
};

/// Returns the kind whose pattern is `what`, or nullptr.
constexpr const StatisticKind* kind_named(std::span<const StatisticKind> kinds, std::string_view what) noexcept {
  for (const StatisticKind& kind : kinds)
    if (kind.pattern == what) return &kind;
  return nullptr;
}

/// Returns the kind whose pattern is `what`, as StatisticFamily::find() does.
inline std::optional<AskedStatistic> asked_of(std::span<const StatisticKind> kinds, std::string_view what) {
  const StatisticKind* const kind = kind_named(kinds, what);
  return kind ? std::optional(AskedStatistic{std::string(what), kind}) : std::nullopt;
}

/// A requested percentile.
struct AskedQuantile {
  double probability;
  Column column;
};

/// Measures that can share one state per flow. The registry knows a statistic only by its family.
struct StatisticFamily {
  std::span<const StatisticKind> measures;
  bool of_amounts;  ///< true if it applies only to variables that are amounts

  /// Returns the measure called `what`, or nullopt if it is not of this family.
  std::optional<AskedStatistic> (*find)(std::string_view what);

  /// Makes statistics that together have one column for each of `whats`, which are canonical and all different.
  std::vector<std::unique_ptr<Statistic>> (*make)(Variable variable, std::span<const std::string> whats,
                                                  const StatisticOptions& options);

  std::optional<Variable> only = std::nullopt;  ///< its only variable

  bool is_of(Variable variable) const noexcept {
    const bool is_special = variable == Variable::tcp || variable == Variable::interface;
    if (only || is_special) return only == variable;
    return !of_amounts || info_of(variable).is_amount;
  }
};

}  // namespace parshall
