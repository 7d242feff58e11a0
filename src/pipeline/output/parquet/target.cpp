// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/parquet/target.hpp"

#include "base/host_name.hpp"
#include "base/parse.hpp"
#include "pipeline/output/target_options.hpp"

namespace parshall {
namespace {

constexpr std::uint64_t kNsPerMs = 1'000'000, kLeastBytes = 1'000'000, kMostBytes = std::uint64_t{1} << 40;

bool take_every(const std::string& value, ParquetTarget& target) {
  const auto ns = parse_duration_ns(value);
  if (!ns || *ns < 100 * kNsPerMs) return false;
  target.every = std::chrono::milliseconds(*ns / kNsPerMs);
  return true;
}

bool take_size(const std::string& value, ParquetTarget& target) {
  const auto bytes = parse_count(value);
  if (!bytes || *bytes < kLeastBytes || *bytes > kMostBytes) return false;
  target.bytes = static_cast<std::int64_t>(*bytes);
  return true;
}

bool take_partition(const std::string& value, ParquetTarget& target) {
  if (value == "hour")
    target.partition = ParquetTarget::Partition::hour;
  else if (value == "day")
    target.partition = ParquetTarget::Partition::day;
  else if (value == "none")
    target.partition = ParquetTarget::Partition::none;
  else
    return false;
  return true;
}

bool take_level(const std::string& value, ParquetTarget& target) {
  constexpr int kMost = 19;
  const auto level = parse_count(value);
  if (!level || *level < 1 || *level > kMost) return false;
  target.level = static_cast<int>(*level);
  return true;
}

constexpr TargetOption<ParquetTarget> kParquetOptions[] = {
    {"every", "time, such as 60s, after which a file ends and another one begins", take_every},
    {"size", "bytes after which one does, from 1M on", take_size},
    {"partition", "hour, day or none: folders date=YYYY-MM-DD and hour=HH that files are put into", take_partition},
    {"level", "of zstd, from 1 to 19", take_level},
    {"probe", "a name for who exports, in each record, up to 255 bytes", take_probe<ParquetTarget>},
};

}  // namespace

Result<ParquetTarget> ParquetTarget::parse(const std::string& text) {
  ParquetTarget target{.folder = {}, .probe = host_name()};
  auto folder = take_options<ParquetTarget>(text, kParquetOptions, target);
  if (!folder) return folder.error();
  if (*folder == "-") return Error{"files go into a folder: give one in place of -"};
  target.folder = *std::move(folder);
  return target;
}

}  // namespace parshall
