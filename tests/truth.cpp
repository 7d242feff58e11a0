// SPDX-License-Identifier: Apache-2.0
#include "truth.hpp"

#include <arpa/inet.h>
#include <zlib.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string_view>

namespace parshall::testing {
namespace {

std::vector<std::string> split(std::string_view line) {
  std::vector<std::string> columns;
  for (;;) {
    const std::size_t tab = line.find('\t');
    columns.emplace_back(line.substr(0, tab));
    if (tab == std::string_view::npos) return columns;
    line.remove_prefix(tab + 1);
  }
}

std::string read_gzip(const std::filesystem::path& path) {
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) throw std::runtime_error("cannot open " + path.string());
  std::string text;
  std::array<char, 65536> piece;
  for (int got = 0; (got = gzread(file, piece.data(), piece.size())) > 0;) {
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  gzclose(file);
  return text;
}

/// "seconds.nanoseconds", or nothing for empty and negative times.
std::optional<std::uint64_t> nanoseconds(const std::string& text) {
  const std::size_t dot = text.find('.');
  if (dot == std::string::npos || text.front() == '-') return std::nullopt;
  const std::string fraction = (text.substr(dot + 1) + "000000000").substr(0, 9);
  return std::stoull(text.substr(0, dot)) * 1'000'000'000 + std::stoull(fraction);
}

std::string address_text(int family, std::span<const std::uint8_t> bytes) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(family, bytes.data(), text.data(), text.size());
  return text.data();
}

std::size_t column(const std::vector<std::string>& names, std::string_view wanted) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == wanted) return i;
  }
  throw std::runtime_error("the manifest has no column " + std::string(wanted));
}

}  // namespace

std::optional<std::filesystem::path> traces_folder() {
  const char* named = std::getenv("PARSHALL_TRACES");
  const std::filesystem::path folder = named != nullptr
                                           ? std::filesystem::path(named)
                                           : std::filesystem::path(PARSHALL_ROOT) / ".." / "shared" / "traces";
  if (!std::filesystem::exists(folder / "MANIFEST.tsv")) return std::nullopt;
  return folder;
}

std::vector<TruthCapture> truth_captures() {
  std::vector<TruthCapture> captures;
  const auto folder = traces_folder();
  if (!folder) return captures;
  std::ifstream manifest(*folder / "MANIFEST.tsv");
  std::string line;
  std::getline(manifest, line);
  const auto names = split(line);
  const std::size_t file = column(names, "file"), link_type = column(names, "link_type"),
                    crosscheck = column(names, "crosscheck");
  while (std::getline(manifest, line)) {
    const auto columns = split(line);
    TruthCapture capture{.name = columns.at(file),
                         .path = *folder / "pcap" / columns.at(file),
                         .flows = *folder / "truth" / (columns.at(file) + ".flows.tsv.gz"),
                         .inner = *folder / "truth" / (columns.at(file) + ".inner.tsv.gz"),
                         .link_type = columns.at(link_type),
                         .agree = columns.at(crosscheck) == "AGREE"};
    if (!std::filesystem::exists(capture.inner)) capture.inner = capture.flows;
    if (std::filesystem::exists(capture.path)) captures.push_back(std::move(capture));
  }
  return captures;
}

std::map<FlowText, TruthFlow> read_truth(const std::filesystem::path& path) {
  std::map<FlowText, TruthFlow> flows;
  const std::string text = read_gzip(path);
  std::string_view rest(text);
  bool header = true;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const auto columns = split(rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (header) {
      header = false;
      continue;
    }
    const FlowText flow{std::stoi(columns.at(0)), std::stoi(columns.at(1)), columns.at(2), columns.at(3),
                        std::stoi(columns.at(4)), std::stoi(columns.at(5))};
    flows[flow] = {.packets = std::stoull(columns.at(6)),
                   .ip_bytes = std::stoull(columns.at(7)),
                   .wire_bytes = std::stoull(columns.at(8)),
                   .first_ns = nanoseconds(columns.at(9)),
                   .last_ns = nanoseconds(columns.at(10)),
                   .later_fragments = std::stoull(columns.at(11)),
                   .tcp_flags = static_cast<std::uint32_t>(std::stoul(columns.at(12), nullptr, 0))};
  }
  return flows;
}

std::optional<std::string_view> accepted_difference(std::string_view capture, Aspect aspect) {
  struct Entry {
    std::string_view capture;
    Aspect aspect;
    std::string_view why;
  };
  constexpr std::string_view kOffset =
      "tshark shows no flags of a TCP header whose data offset is below 5; they are counted";
  constexpr std::string_view kIpcomp = "tshark inflates IPComp payloads and finds the packet inside";
  constexpr std::string_view kLinkType = "neither of them knows the link type, of a switch's tags";
  constexpr std::array kEntries{
      Entry{"libpcap__filter_brcm-tag.pcap", Aspect::link_type, kLinkType},
      Entry{"tcpdump__dsa.pcap", Aspect::link_type, kLinkType},
      Entry{"nDPI__ip_fragmented_garbage.pcap", Aspect::tcp_flags, kOffset},
      Entry{"nDPI__kerberos_fuzz.pcapng", Aspect::tcp_flags, kOffset},
      Entry{"libpcap__filter_AH-IPcomp-IPv4.pcap", Aspect::innermost, kIpcomp},
      Entry{"libpcap__filter_AH-IPcomp-IPv6.pcap", Aspect::innermost, kIpcomp},
      Entry{"nDPI__sflow.pcap", Aspect::innermost, "the headers that sFlow samples are a report, not a tunnel"},
      Entry{"tcpdump__of13_ericsson.pcapng", Aspect::innermost,
            "the packets that OpenFlow reports are a TCP stream's data"},
  };
  for (const Entry& entry : kEntries) {
    if (entry.capture == capture && entry.aspect == aspect) return entry.why;
  }
  return std::nullopt;
}

FlowText text_of(const FlowKey& key) {
  const int family = key.ip_version == 6 ? AF_INET6 : AF_INET;
  return {
      key.ip_version, key.protocol,  address_text(family, key.src_address()), address_text(family, key.dst_address()),
      key.src_port(), key.dst_port()};
}

std::string to_string(const FlowText& flow) {
  return "IPv" + std::to_string(flow.ip_version) + " protocol " + std::to_string(flow.protocol) + " " + flow.src + " " +
         std::to_string(flow.src_port) + " -> " + flow.dst + " " + std::to_string(flow.dst_port);
}

}  // namespace parshall::testing
