// SPDX-License-Identifier: Apache-2.0
#include "classify/labels.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "classify/label_formats.hpp"
#include "classify/label_reading.hpp"
#include "classify/peeked_stream.hpp"
#include "pipeline/flow/both_ways.hpp"

namespace parshall {
namespace {

std::string map_key(std::string_view capture, const FlowKey& flow) {
  const FlowKey key = both_ways(flow).first;
  std::string text(reinterpret_cast<const char*>(&key), key.significant_bytes());
  return text.append(capture);
}

/// Reads a list of the format that its first bytes show.
Result<Labels> read_list(std::istream& list, const std::string& ssl_log, LabelReading& reading) {
  try {
    PeekedStream peeked(list);
    const std::string_view head = peeked.head();
    const auto begins = [&](std::string_view text) { return head.starts_with(text); };
    if (begins("\x1f\x8b") || begins("\x28\xb5\x2f\xfd") || begins("BZh") ||
        begins("\xfd"
               "7zXZ"))
      return reading.wrong(1, "it is compressed: decompress it first");
    if (begins("PAR1")) {
      reading.count_rows();
      return read_parquet_labels(peeked, reading);
    }
    if (begins("#flow_id")) return read_ndpi_labels(peeked, reading);
    if (begins("{") || begins("#separator") || begins("#fields")) return read_zeek_labels(peeked, ssl_log, reading);
    return read_csv_labels(peeked, reading);
  } catch (const std::ios_base::failure&) {  // a folder, or a broken disk
    return reading.wrong(1, LabelReading::kUnreadable);
  }
}

}  // namespace

void Labels::add(std::string_view capture, const FlowKey& flow, std::string_view class_name) {
  const auto [at, is_new] = classes_.try_emplace(map_key(capture, flow), class_name);
  if (is_new || at->second.empty() || at->second == class_name) return;
  at->second.clear();
  ++contradictory_;
}

// Defined here, not inline: gcc 12 takes an inlined destructor for the deletion of memory that was never allocated.
Labels::Labels(Labels&&) noexcept = default;
Labels& Labels::operator=(Labels&&) noexcept = default;
Labels::~Labels() = default;

Result<Labels> Labels::parse(std::istream& list, const std::string& name, BadLines bad_lines) {
  LabelReading reading(name, bad_lines);
  return read_list(list, "", reading);
}

Result<Labels> Labels::read(const std::string& path, BadLines bad_lines) {
  std::ifstream list(path, std::ios::binary);
  if (!list) return Error{fmt::format("cannot read labels from {}: {}", path, std::strerror(errno))};
  LabelReading reading(path, bad_lines);
  return read_list(list, ssl_log_beside(path), reading);
}

std::optional<std::string_view> Labels::find(std::string_view capture, const FlowKey& flow) const {
  auto found = classes_.find(map_key(capture, flow));
  if (found == classes_.end()) found = classes_.find(map_key({}, flow));
  if (found == classes_.end() || found->second.empty()) return std::nullopt;
  return found->second;
}

}  // namespace parshall
