// SPDX-License-Identifier: Apache-2.0
#include "flow_count.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>

#include "pipeline/capture/pcap_file.hpp"

namespace parshall::testing {
namespace {

void add(FlowCount& count, const RawPacket& packet, IpHeader header) {
  PacketFacts facts, outer;
  const Verdict verdict = decode_any(packet, header, facts);
  ++count.packets;
  ++count.verdicts[static_cast<std::size_t>(verdict)];
  if (verdict != Verdict::counted) return;
  decode_any(packet, IpHeader::outermost, outer);
  TruthFlow& flow = count.flows[text_of(facts.key)];
  ++flow.packets;
  flow.ip_bytes += facts.ip_bytes();
  flow.wire_bytes += facts.wire_bytes();
  flow.first_ns = std::min(flow.first_ns.value_or(facts.time_ns), facts.time_ns);
  flow.last_ns = std::max(flow.last_ns.value_or(facts.time_ns), facts.time_ns);
  // The truth has the flags of packets with a single IP header only.
  if (facts.counts.bits() == outer.counts.bits() && facts.key == outer.key) flow.tcp_flags |= facts.counts.tcp_flags();
}

Result<std::vector<std::unique_ptr<PacketSource>>> checked(Result<std::vector<std::unique_ptr<PacketSource>>> sources) {
  if (!sources) throw std::runtime_error(sources.error().message);
  return sources;
}

}  // namespace

FlowCount count_flows(PacketSource& source, IpHeader header) {
  FlowCount count;
  std::array<RawPacket, 64> batch;
  while (!source.exhausted()) {
    const std::size_t packets = source.poll(batch);
    for (std::size_t i = 0; i < packets; ++i) add(count, batch[i], header);
  }
  if (auto damage = source.damage()) count.damage = damage->message;
  return count;
}

FlowCount count_file(const std::string& path, IpHeader header) {
  auto sources = checked(open_capture_file(path, 1));
  return count_flows(*sources->front(), header);
}

FlowCount count_stream(const std::string& path, IpHeader header) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) throw std::runtime_error("no pipe");
  std::thread writer([&] {
    for (std::size_t at = 0; at < bytes.size();) {
      const ssize_t wrote = ::write(ends[1], bytes.data() + at, std::min<std::size_t>(bytes.size() - at, 7777));
      if (wrote <= 0) break;
      at += static_cast<std::size_t>(wrote);
    }
    ::close(ends[1]);
  });
  FlowCount count;
  {
    auto sources = open_capture_descriptor(ends[0], path, 1);
    if (sources) {
      count = count_flows(*sources->front(), header);
    } else {
      count.damage = sources.error().message;
    }
  }
  writer.join();
  return count;
}

std::optional<std::string> difference(const TruthFlow& truth, const TruthFlow& ours) {
  std::string text;
  const auto compare = [&](const char* what, auto expected, auto found) {
    if (expected != found)
      text += fmt::format("{}{} {} instead of {}", text.empty() ? "" : ", ", what, found, expected);
  };
  compare("packets", truth.packets, ours.packets);
  compare("ip_bytes", truth.ip_bytes, ours.ip_bytes);
  compare("wire_bytes", truth.wire_bytes, ours.wire_bytes);
  if (truth.first_ns) compare("first_ns", *truth.first_ns, ours.first_ns.value_or(0));
  if (truth.last_ns) compare("last_ns", *truth.last_ns, ours.last_ns.value_or(0));
  compare("tcp_flags", truth.tcp_flags, ours.tcp_flags);
  if (text.empty()) return std::nullopt;
  return text;
}

}  // namespace parshall::testing
