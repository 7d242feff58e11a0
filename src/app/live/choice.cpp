// SPDX-License-Identifier: Apache-2.0
#include "app/live/choice.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace parshall::live {
namespace {

using Names = std::vector<std::string>;

constexpr std::string_view kOf[] = {"rate", "gap", "iat", "size"};
constexpr std::string_view kOfHelp[] = {"", " (packets of other flows in between)", " (time between packets)",
                                        " (bytes on the wire)"};
constexpr std::string_view kWhat[] = {"last", "cumulated", "range", "mean", "moments", "percentiles"};

std::optional<Names> rate_names(What what) {
  switch (what) {
    case What::last:
      return Names{};
    case What::cumulated:
      return Names{"duration_ns"};
    case What::mean:
      return Names{"rate_pps", "rate_bps"};
    default:
      return std::nullopt;
  }
}

/// Returns the columns with sums. Meaningful sums are kept exactly anyway: time as the flow's duration, sizes as its
/// bytes.
std::optional<Names> sum_names(Of of) {
  if (of == Of::gap) return std::nullopt;
  return of == Of::iat ? Names{"duration_ns"} : Names{};
}

}  // namespace

std::optional<Names> column_names(Of of, What what) {
  if (of == Of::rate) return rate_names(what);
  if (what == What::cumulated) return sum_names(of);
  const std::string variable = std::string(name_of(of)) + "_";
  switch (what) {
    case What::range:
      return Names{variable + "min", variable + "max"};
    case What::moments:
      return Names{variable + "mean", variable + "sd", variable + "skewness", variable + "kurtosis"};
    case What::percentiles:
      return Names{variable + "p50", variable + "p99", variable + "p99.9"};
    default:
      return Names{variable + std::string(name_of(what))};
  }
}

std::vector<const Grouping*> groupings_of(std::span<const ColumnInfo> columns, bool has_local) {
  std::vector<const Grouping*> all;
  for (const Grouping& grouping : groupings())
    if ((has_local || !grouping.needs_local) && !grouping.is_of_ends() &&
        (grouping.of_column.empty() ||
         std::ranges::find(columns, grouping.of_column, &ColumnInfo::name) != columns.end()))
      all.push_back(&grouping);
  return all;
}

std::array<std::string_view, 3> key_headings(const Grouping* by) noexcept {
  if (by == nullptr) return {"proto", "source", "destination"};
  if (by->names.one == "conversation") return {"proto", "client", "server"};
  return {by->names.one == "service" ? "proto" : "", by->names.one, ""};
}

std::string describe(const Choice& choice, const Grouping* by) {
  if (choice.level == Level::packet) return "packet level";
  if (by != nullptr) return fmt::format("{} (f: other rows)", by->names.many);
  if (choice.own) return "flows, with the columns of --columns";
  return fmt::format("flows, {}: {}{}", name_of(choice.of), name_of(choice.what),
                     kOfHelp[static_cast<std::size_t>(choice.of)]);
}

std::string_view name_of(Of of) noexcept { return kOf[static_cast<std::size_t>(of)]; }
std::string_view name_of(What what) noexcept { return kWhat[static_cast<std::size_t>(what)]; }

}  // namespace parshall::live
