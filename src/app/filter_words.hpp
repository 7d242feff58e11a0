// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/capture/bpf_filter.hpp"

namespace parshall::cli {

/// Compiles the words of a filter, of which some may be empty; nullopt without any.
inline Result<std::optional<BpfFilter>> filter_of(std::vector<std::string> words) {
  std::erase(words, "");
  if (words.empty()) return std::optional<BpfFilter>();
  auto filter = BpfFilter::compile(fmt::format("{}", fmt::join(words, " ")));
  if (!filter) return filter.error();
  return std::optional(*std::move(filter));
}

}  // namespace parshall::cli
