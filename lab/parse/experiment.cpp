// SPDX-License-Identifier: Apache-2.0
#include "lab/parse/experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <optional>

#include "base/machine.hpp"
#include "pipeline/decode/decode.hpp"

namespace parshall::lab {
namespace {

constexpr std::size_t kParseBatch = 256, kParseSample = std::size_t{1} << 18, kParseWarmUp = std::size_t{1} << 16;

/// Polls and reads packets, from a position of its own. Otherwise the first variant to read a part of the memory would
/// load it into the caches for the others.
class Parser {
 public:
  Parser(const FrameMemory& memory, std::size_t begin, std::unique_ptr<HeaderReader> reader)
      : walk_(memory, begin), reader_(std::move(reader)) {}

  void run(std::size_t packets) {
    for (std::size_t count; packets != 0; packets -= count) {
      count = std::min(packets, kParseBatch);
      walk_.poll(std::span(batch_).first(count));
      reader_->read(std::span(batch_).first(count));
    }
  }

 private:
  FrameWalk walk_;
  std::unique_ptr<HeaderReader> reader_;
  std::array<RawPacket, kParseBatch> batch_;
};

/// Returns what a method that reads `fields` should find.
FlowKey expected(const RawPacket& packet, HeaderFields fields) noexcept {
  PacketFacts facts;
  if (decode_any(packet, IpHeader::outermost, facts) != Verdict::counted) return {};
  FlowKey key;
  key.ip_version = facts.key.ip_version;
  key.address = facts.key.address;
  if (fields >= HeaderFields::ports)
    key.src_port_bytes = facts.key.src_port_bytes, key.dst_port_bytes = facts.key.dst_port_bytes;
  if (fields >= HeaderFields::five_tuple) key.protocol = facts.key.protocol;
  return key;
}

std::optional<Error> check(const HeaderAccess& access, HeaderReader& reader, const FrameMemory& memory,
                           const FrameKind& kind) {
  if (!access.touches_packets()) return std::nullopt;
  FrameWalk walk(memory, 0);
  std::array<RawPacket, kParseBatch> batch;
  for (std::size_t at = 0; at < memory.frames(); at += kParseBatch) {
    const auto packets = std::span(batch).first(std::min(kParseBatch, memory.frames() - at));
    std::array<FlowKey, kParseBatch> keys{};
    walk.poll(packets);
    reader.keys(packets, keys);
    for (std::size_t i = 0; i < packets.size(); ++i)
      if (const FlowKey right = expected(packets[i], access.fields); !right.present() || !(keys[i] == right))
        return Error{fmt::format("{} reads frame {} of {} differently from the general decoder", access.name, at + i,
                                 kind.name)};
  }
  return std::nullopt;
}

std::optional<Error> enough_memory(const ParseSweep& sweep) {
  const std::size_t needed = std::ranges::max(sweep.memory_bytes), available = available_bytes();
  if (needed <= available) return std::nullopt;
  return Error{fmt::format("{} MB of frames were requested, but {} MB are available: give less with --memory",
                           needed >> 20, available >> 20)};
}

Result<std::vector<ParseRow>> measure(const ParseSweep& sweep, const FrameKind& kind, std::size_t bytes,
                                      const std::function<bool()>& stop) {
  const auto memory = FrameMemory::make(kind, bytes, sweep.seed);
  if (!memory) return memory.error();
  std::vector<ParseRow> rows;
  for (const HeaderAccess* access : sweep.accesses)
    for (const bool prefetch : access->touches_packets() ? sweep.prefetch : std::vector<bool>{false})
      rows.push_back({access, &kind, bytes, prefetch, {}});
  std::vector<std::unique_ptr<Parser>> parsers;
  std::vector<Variant> variants;
  for (const ParseRow& row : rows) {
    if (stop()) return std::vector<ParseRow>();
    auto reader = row.access->make(row.prefetch, sweep.seed);
    if (auto error = check(*row.access, *reader, *memory, kind)) return *std::move(error);
    Parser& parser = *parsers.emplace_back(
        std::make_unique<Parser>(*memory, memory->frames() / rows.size() * parsers.size(), std::move(reader)));
    variants.push_back({.name = std::string(row.access->name), .run = [&](std::size_t n) { parser.run(n); }});
  }
  const std::size_t warm_up = std::min(2 * memory->frames(), kParseWarmUp);
  const std::vector<Cost> costs = Harness(kParseSample, sweep.rounds, warm_up).measure(variants, stop);
  rows.resize(costs.size());
  for (std::size_t i = 0; i < costs.size(); ++i) rows[i].cost = costs[i];
  return rows;
}

}  // namespace

std::size_t combinations(const ParseSweep& sweep) noexcept { return sweep.traffic.size() * sweep.memory_bytes.size(); }

Result<std::size_t> measure_parsing(const ParseSweep& sweep, const std::function<void(std::span<const ParseRow>)>& done,
                                    const std::function<bool()>& stop) {
  if (auto error = enough_memory(sweep)) return *std::move(error);
  std::size_t measured = 0;
  try {
    for (const FrameKind* kind : sweep.traffic)
      for (const std::size_t bytes : sweep.memory_bytes) {
        if (stop()) return measured;
        const auto rows = measure(sweep, *kind, bytes, stop);
        if (!rows) return rows.error();
        if (rows->empty()) return measured;
        done(*rows);
        ++measured;
      }
  } catch (const std::bad_alloc&) {
    return Error{"no memory for the frames: give less with --memory"};
  }
  return measured;
}

}  // namespace parshall::lab
