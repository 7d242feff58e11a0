// SPDX-License-Identifier: Apache-2.0
#include "compare/points.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <tuple>
#include <utility>

#include "base/random_seed.hpp"
#include "base/same_file.hpp"
#include "compare/recorded.hpp"
#include "pipeline/capture/pcap_file.hpp"

namespace parshall {

bool has_records(const std::string& path) {
  std::error_code wrong;
  return std::filesystem::is_directory(path, wrong) || path.ends_with(".parquet") || path.ends_with(".pq");
}

std::optional<Error> missing_point(const PointPaths& paths) {
  for (const std::string& path : {paths.up, paths.down})
    if (std::error_code wrong; path != "-" && !std::filesystem::exists(path, wrong))
      return Error{fmt::format("cannot read {}: it does not exist", path)};
  return std::nullopt;
}

std::optional<Error> points_problem(const PointPaths& paths) {
  const auto& [up, down, on_the_way, filter] = paths;
  if (std::error_code wrong; up == down || same_file(up, down) || std::filesystem::equivalent(up, down, wrong))
    return Error{up + " is named twice: name two points"};
  if (!has_records(up) && !has_records(down)) return std::nullopt;
  if (!has_records(up) || !has_records(down))
    return Error{fmt::format("{} has records, and {} has not: name two captures, or two folders of Parquet files",
                             has_records(up) ? up : down, has_records(up) ? down : up)};
  if (on_the_way == OnTheWay::translated || filter)
    return Error{"records have no packets: a filter, and addresses that change on the way, need captures"};
  return std::nullopt;
}

bool is_within(const PointPaths& paths, const std::string& file) {
  if (file == "-") return false;
  std::error_code wrong;
  const auto whole = std::filesystem::weakly_canonical(file, wrong);
  for (const std::string& point : {paths.up, paths.down}) {
    if (same_file(point, file)) return true;
    const auto folder = std::filesystem::weakly_canonical(point, wrong);
    if (std::filesystem::is_directory(folder, wrong) && !whole.lexically_relative(folder).empty() &&
        *whole.lexically_relative(folder).begin() != "..")
      return true;
  }
  return false;
}

Result<ComparedPoints> compare_captures(const PointPaths& paths, const std::function<bool()>& stop) {
  const PacketIds ids(random_seed(), paths.on_the_way);
  FlowNumbers flows(random_seed());
  std::optional<BpfFilter> filter = paths.filter;
  ComparedPoints points;
  for (const auto& [path, tap] : {std::pair(&paths.up, &points.up), std::pair(&paths.down, &points.down)}) {
    tap->name = *path == "-" ? "standard input" : *path;
    auto sources = open_capture_file(*path, 1);
    if (!sources) return sources.error();
    PacketSource& source = *sources->front();
    read_tap(source, filter ? &*filter : nullptr, ids, stop, flows, *tap);
    if (auto damage = source.damage()) points.damages.push_back(*std::move(damage));
    if (stop()) return Error{"stopped before both captures were read: no result"};
  }
  if (filter)
    for (const Error& left_out : filter->left_out(1)) points.notes.push_back(left_out.message);
  points.found = compare(points.up, points.down, flows);
  return points;
}

ComparedPoints compare_records(const PointPaths& paths, const RecordSet& up, const RecordSet& down) {
  ComparedPoints points;
  for (const auto& [set, tap, name] :
       {std::tuple(&up, &points.up, &paths.up), std::tuple(&down, &points.down, &paths.down)}) {
    static_cast<TapCounts&>(*tap) = set->tap;
    tap->name = *name;
    tap->lacks = set->lacks;
  }
  points.found = compare(up, down);
  return points;
}

}  // namespace parshall
