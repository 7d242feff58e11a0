// SPDX-License-Identifier: Apache-2.0
#include "classify/labels.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "classify/label_formats.hpp"
#include "classify/label_reading.hpp"
#include "pipeline/flow/both_ways.hpp"

namespace parshall {
namespace {

std::string map_key(std::string_view capture, const FlowKey& flow) {
  const FlowKey key = both_ways(flow).first;
  std::string text(reinterpret_cast<const char*>(&key), key.significant_bytes());
  return text.append(capture);
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
  return read_csv_labels(list, reading);
}

Result<Labels> Labels::read(const std::string& path, BadLines bad_lines) {
  std::ifstream list(path, std::ios::binary);
  if (!list) return Error{fmt::format("cannot read labels from {}: {}", path, std::strerror(errno))};
  LabelReading reading(path, bad_lines);
  return read_csv_labels(list, reading);
}

std::optional<std::string_view> Labels::find(std::string_view capture, const FlowKey& flow) const {
  auto found = classes_.find(map_key(capture, flow));
  if (found == classes_.end()) found = classes_.find(map_key({}, flow));
  if (found == classes_.end() || found->second.empty()) return std::nullopt;
  return found->second;
}

}  // namespace parshall
