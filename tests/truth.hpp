// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <compare>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/decode/facts.hpp"

namespace parshall::testing {

/// A capture whose flows two independent programs counted beforehand.
struct TruthCapture {
  std::string name;
  std::filesystem::path path;
  std::filesystem::path flows;  ///< truth by the outermost IP header
  std::filesystem::path inner;  ///< truth by the innermost one; the same file when no packet has two
  std::string link_type;
  bool agree = false;  ///< the two programs agreed: every number is to be matched
};

/// A five-tuple as the truth files write it.
struct FlowText {
  int ip_version = 0;
  int protocol = 0;
  std::string src, dst;
  int src_port = 0, dst_port = 0;

  auto operator<=>(const FlowText&) const = default;
};

struct TruthFlow {
  std::uint64_t packets = 0;
  std::uint64_t ip_bytes = 0;
  std::uint64_t wire_bytes = 0;
  std::optional<std::uint64_t> first_ns, last_ns;  ///< absent where the file has no time that fits
  std::uint64_t later_fragments = 0;
  std::uint32_t tcp_flags = 0;  ///< of packets with a single IP header
};

/// $PARSHALL_TRACES, or shared/traces beside the project; nothing when there is no such folder.
std::optional<std::filesystem::path> traces_folder();

/// All captures of the manifest; none when the folder is absent.
std::vector<TruthCapture> truth_captures();

std::map<FlowText, TruthFlow> read_truth(const std::filesystem::path& path);

enum class Aspect : std::uint8_t { tcp_flags, innermost, link_type };

/// Why we differ on purpose from a truth whose two programs agreed; nothing for all but a few captures.
std::optional<std::string_view> accepted_difference(std::string_view capture, Aspect aspect);

FlowText text_of(const FlowKey& key);
std::string to_string(const FlowText& flow);

}  // namespace parshall::testing
