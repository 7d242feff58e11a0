// SPDX-License-Identifier: Apache-2.0
#include "pipeline/capture/erf_parser.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/prefetch.hpp"
#include "pipeline/capture/byte_order.hpp"
#include "pipeline/capture/erf_record.hpp"

namespace parshall {
namespace {

constexpr std::size_t kErfPrefetchBytes = 1536;
constexpr std::uint8_t kTypeMask = 0x7f;

/// The fixed part of a record's header.
struct Record {
  std::uint64_t stamp;
  std::uint8_t type;
  std::uint16_t bytes, lost, wire_bytes;

  explicit Record(const std::uint8_t* at) noexcept
      : stamp(load<std::uint64_t>(at, false)),
        type(at[8] & kTypeMask),
        bytes(load<std::uint16_t>(at + 10, true)),
        lost(load<std::uint16_t>(at + 12, true)),
        wire_bytes(load<std::uint16_t>(at + 14, true)) {}

  std::uint64_t time_ns() const noexcept {
    constexpr std::uint64_t kHalf = std::uint64_t{1} << 31;
    return (stamp >> 32) * 1'000'000'000 + (((stamp & 0xffffffff) * 1'000'000'000 + kHalf) >> 32);
  }
};

/// Findings from the first records.
struct Sight {
  std::size_t records = 0;  ///< valid records
  std::size_t frames = 0;   ///< records that are not padding
  bool wrong = false;
  bool at_end = false;  ///< the input ends exactly behind a record
};

/// Wireshark also checks 20 records.
constexpr std::size_t kMostRecords = 20, kEnoughFrames = 8, kEnoughBeforeACut = 3;

/// Returns whether a header looks like text, or like one byte repeated. Such data has no control characters other than
/// white space, while a card's flags and lengths have many.
bool is_text_or_filling(std::span<const std::uint8_t> header) noexcept {
  const auto is_text = [](std::uint8_t c) { return c >= ' ' || (c >= '\t' && c <= '\r'); };
  return std::ranges::all_of(header, is_text) || std::ranges::count(header, header[0]) == std::ssize(header);
}

bool is_known_type(std::uint8_t type) noexcept {
  return (type >= 1 && type <= 29 && type != 26) || type == ErfHeaders::kPad;
}

/// Returns whether `record`, whose length is known to be valid, may follow one with the time stamp `before`.
bool may_follow(const Record& record, std::uint64_t before) noexcept {
  constexpr std::uint64_t kBackwards = std::uint64_t{2} << 32, kForwards = (3600ull * 24 * 365) << 32;
  return record.stamp >= before ? record.stamp - before <= kForwards : before - record.stamp < kBackwards;
}

Sight look_at(std::span<const std::uint8_t> rest) noexcept {
  Sight sight;
  for (std::uint64_t before = 0; sight.records < kMostRecords && sight.frames < kEnoughFrames; ++sight.records) {
    if (rest.size() < ErfHeaders::kFixedBytes) {
      sight.at_end = rest.empty();
      return sight;
    }
    const Record record(rest.data());
    const std::size_t bytes = record.bytes;
    sight.wrong = !is_known_type(record.type) || bytes < ErfHeaders::kFixedBytes ||
                  is_text_or_filling(rest.first(ErfHeaders::kFixedBytes));
    const bool pad = record.type == ErfHeaders::kPad;
    if (!sight.wrong && !pad) {
      sight.wrong = sight.frames != 0 && !may_follow(record, before);
      // Only a record that is not complete yet may seem to end before its frame begins.
      const bool has_frame = ErfHeaders::read(rest.first(std::min(bytes, rest.size()))).has_value();
      sight.wrong |= bytes <= rest.size() && !has_frame;
      before = record.stamp;
    }
    if (sight.wrong || bytes > rest.size()) return sight;
    sight.frames += !pad;
    rest = rest.subspan(bytes);
  }
  return sight;
}

}  // namespace

ErfParser::Looks ErfParser::looks(std::span<const std::uint8_t> head) noexcept {
  const Sight sight = look_at(head);
  if (sight.frames == kEnoughFrames) return Looks::like_erf;
  return sight.wrong || sight.records == kMostRecords ? Looks::unlike_erf : Looks::undecided;
}

bool ErfParser::is_erf(std::span<const std::uint8_t> input) noexcept {
  const Sight sight = look_at(input);
  return !sight.wrong && sight.frames >= (sight.at_end ? 1 : kEnoughBeforeACut);
}

Parsed ErfParser::parse_records(std::span<const std::uint8_t> bytes, std::span<RawPacket> out) noexcept {
  Parsed done;
  while (done.packets < out.size() && bytes.size() - done.bytes >= ErfHeaders::kFixedBytes) {
    const auto rest = bytes.subspan(done.bytes);
    prefetch_line(rest.data() + kErfPrefetchBytes);
    const Record record(rest.data());
    if (record.bytes < ErfHeaders::kFixedBytes) [[unlikely]] {
      note_damage(fmt::format("a record of type {} claims a length of {} bytes", record.type, record.bytes), done);
      break;
    }
    if (record.bytes > rest.size()) break;
    done.bytes += record.bytes;
    if (record.type == ErfHeaders::kPad) continue;
    const auto headers = ErfHeaders::read(rest.first(record.bytes));
    if (!headers) [[unlikely]] {
      done.bytes -= record.bytes;
      note_damage(fmt::format("a record of type {} is shorter than its headers: {} bytes", record.type, record.bytes),
                  done);
      break;
    }
    if (ErfType::counts_losses(record.type)) note_lost(record.lost);
    const bool frame = headers->link_type != LinkType::erf;
    const std::size_t from = frame ? headers->bytes : 0;
    const std::size_t there = record.bytes - from;
    out[done.packets++] = {
        .data = rest.data() + from,
        .time_ns = record.time_ns(),
        .captured_bytes = static_cast<std::uint32_t>(frame ? std::min<std::size_t>(there, record.wire_bytes) : there),
        .wire_bytes = record.wire_bytes,
        .link_type = headers->link_type};
  }
  return done;
}

void ErfParser::note_cut(std::span<const std::uint8_t> rest) noexcept {
  if (rest.empty()) return;
  note_damage(rest.size() < ErfHeaders::kFixedBytes
                  ? fmt::format("record header cut: {} of {} bytes", rest.size(), ErfHeaders::kFixedBytes)
                  : fmt::format("a record of {} bytes is cut: {} are left", Record(rest.data()).bytes, rest.size()),
              {});
}

}  // namespace parshall
