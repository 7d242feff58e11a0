// SPDX-License-Identifier: Apache-2.0
#include "traffic/frame_sizes.hpp"

#include <algorithm>
#include <utility>

#include "base/random.hpp"
#include "traffic/read_number.hpp"

namespace parshall {
namespace {

bool read_size(std::string_view text, std::uint32_t& bytes) {
  return read_number(text, bytes) && bytes >= FrameSizes::kLeast && bytes <= FrameSizes::kMost;
}

/// Parses SIZE:WEIGHT.
bool read_weighted(std::string_view text, FrameSizes::Weighted& size) {
  const std::size_t colon = text.find(':');
  return colon != text.npos && read_size(text.substr(0, colon), size.bytes) &&
         read_number(text.substr(colon + 1), size.weight) && size.weight >= 1 && size.weight <= FrameSizes::kMostWeight;
}

std::optional<FrameSizes> read_mix(std::string_view text) {
  std::vector<FrameSizes::Weighted> sizes;
  for (std::size_t end = 0; end != text.npos; text.remove_prefix(std::min(text.size(), end + 1))) {
    end = text.find('+');
    if (!read_weighted(text.substr(0, end), sizes.emplace_back())) return std::nullopt;
  }
  return FrameSizes(std::move(sizes));
}

std::optional<FrameSizes> read_range(std::string_view text, std::size_t dash) {
  std::uint32_t first = 0, last = 0;
  if (!read_size(text.substr(0, dash), first) || !read_size(text.substr(dash + 1), last) || last < first)
    return std::nullopt;
  std::vector<FrameSizes::Weighted> sizes;
  for (std::uint32_t bytes = first; bytes <= last; ++bytes) sizes.push_back({bytes, 1});
  return FrameSizes(std::move(sizes));
}

}  // namespace

FrameSizes FrameSizes::simple_imix() { return FrameSizes({{64, 7}, {570, 4}, {1518, 1}}); }

std::optional<FrameSizes> FrameSizes::parse(std::string_view text) {
  if (text == "imix") return simple_imix();
  if (text.find(':') != text.npos) return read_mix(text);
  if (const std::size_t dash = text.find('-'); dash != text.npos) return read_range(text, dash);
  std::uint32_t bytes = 0;
  if (!read_size(text, bytes)) return std::nullopt;
  return FrameSizes(bytes);
}

std::uint32_t FrameSizes::least() const noexcept { return std::ranges::min(sizes_, {}, &Weighted::bytes).bytes; }
std::uint32_t FrameSizes::most() const noexcept { return std::ranges::max(sizes_, {}, &Weighted::bytes).bytes; }

std::vector<std::uint16_t> FrameSizes::deal(std::uint64_t frames, std::uint64_t seed) const {
  std::uint64_t all = 0, so_far = 0;
  for (const Weighted& size : sizes_) all += size.weight;
  std::vector<std::uint16_t> dealt(frames);
  std::uint64_t at = 0;
  for (const Weighted& size : sizes_) {
    so_far += size.weight;
    const auto until = static_cast<std::uint64_t>(static_cast<unsigned __int128>(frames) * so_far / all);
    for (; at < until; ++at) dealt[at] = static_cast<std::uint16_t>(size.bytes);
  }
  SplitMix64 random(seed);
  for (std::uint64_t i = frames; i > 1; --i) std::swap(dealt[i - 1], dealt[random.below(i)]);
  return dealt;
}

}  // namespace parshall
