// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "compare/comparison.hpp"
#include "compare/packet_id.hpp"
#include "compare/record_set.hpp"
#include "pipeline/capture/bpf_filter.hpp"

namespace parshall {

/// Two points, each a capture or a folder of records.
struct PointPaths {
  std::string up, down;
  OnTheWay on_the_way = OnTheWay::forwarded;  ///< for captures
  std::optional<BpfFilter> filter = {};       ///< likewise
};

/// Returns whether records are there, not packets.
bool has_records(const std::string& path);

/// Returns which of them does not exist, if any.
std::optional<Error> missing_point(const PointPaths& paths);

/// Returns whether the file is one of the points, or in its folder.
bool is_within(const PointPaths& paths, const std::string& file);

/// Returns why these two points cannot be compared, before anything of them is read: one is named twice, only one has
/// records, or records are asked for something that only packets have.
std::optional<Error> points_problem(const PointPaths& paths);

/// Two points and their comparison.
struct ComparedPoints {
  Tap up, down;
  Comparison found;
  std::vector<Error> damages = {};      ///< where captures break off; what comes before is compared
  std::vector<std::string> notes = {};  ///< what the filter cannot take
};

/// Reads and compares two captures. Error: one cannot be read, or `stop` returned true. Throws std::bad_alloc.
Result<ComparedPoints> compare_captures(const PointPaths& paths, const std::function<bool()>& stop);

/// Compares two folders of records that were read.
ComparedPoints compare_records(const PointPaths& paths, const RecordSet& up, const RecordSet& down);

}  // namespace parshall
