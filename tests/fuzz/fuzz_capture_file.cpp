// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pipeline/capture/byte_order.hpp"
#include "pipeline/capture/capture_parser.hpp"

using namespace parshall;

namespace {

using Bytes = std::span<const std::uint8_t>;

void require(bool holds) {
  if (!holds) std::abort();
}

struct Seen {
  std::uint64_t time_ns;
  std::uint32_t captured_bytes, wire_bytes;
  LinkType link_type;
  std::uint64_t sum;

  bool operator==(const Seen&) const = default;
};

struct Outcome {
  std::vector<Seen> packets;
  std::optional<std::string> damage;

  bool operator==(const Outcome&) const = default;
};

/// Takes what can be taken from `bytes`; returns how much that was.
std::size_t take(CaptureParser& parser, Bytes bytes, std::span<RawPacket> batch, Outcome& outcome) {
  std::size_t taken = 0;
  for (;;) {
    const Parsed parsed = parser.parse(bytes.subspan(taken), batch);
    require(parsed.packets <= batch.size() && parsed.bytes <= bytes.size() - taken);
    for (const RawPacket& packet : batch.first(parsed.packets)) {
      const Bytes captured(packet.data, packet.captured_bytes);
      require(captured.data() >= bytes.data() && captured.data() + captured.size() <= bytes.data() + bytes.size());
      std::uint64_t sum = 0;
      for (const std::uint8_t byte : captured) sum = sum * 31 + byte;
      outcome.packets.push_back({packet.time_ns, packet.captured_bytes, packet.wire_bytes, packet.link_type, sum});
    }
    taken += parsed.bytes;
    if (parsed.bytes == 0) return taken;
  }
}

Outcome read_whole(Bytes bytes) {
  Outcome outcome;
  const auto parser = make_capture_parser(bytes, "fuzz");
  if (!parser) return outcome;
  std::array<RawPacket, 64> batch;
  const std::size_t taken = take(**parser, bytes, batch, outcome);
  (*parser)->finish(bytes.subspan(taken));
  outcome.damage = (*parser)->damage();
  return outcome;
}

/// As the stream reader does it: pieces as they come, the rest of each carried over to the next.
Outcome read_in_pieces(Bytes bytes, std::size_t piece_bytes) {
  Outcome outcome;
  const auto parser = make_capture_parser(bytes, "fuzz");
  if (!parser) return outcome;
  std::array<RawPacket, 3> batch;
  std::vector<std::uint8_t> carried;
  for (std::size_t at = 0; at < bytes.size(); at += piece_bytes) {
    const Bytes piece = bytes.subspan(at, std::min(piece_bytes, bytes.size() - at));
    carried.insert(carried.end(), piece.begin(), piece.end());
    carried.shrink_to_fit();
    const std::size_t taken = take(**parser, carried, batch, outcome);
    carried.erase(carried.begin(), carried.begin() + static_cast<std::ptrdiff_t>(taken));
  }
  (*parser)->finish(carried);
  outcome.damage = (*parser)->damage();
  return outcome;
}

/// What is taken for a capture by as much of its beginning as is asked for is one by all of it.
void check_head(Bytes bytes, std::size_t piece_bytes) {
  std::size_t head = std::min(piece_bytes, bytes.size());
  while (head < bytes.size() && wants_longer_head(bytes.first(head))) head = std::min(head + piece_bytes, bytes.size());
  require(make_capture_parser(bytes.first(head), "fuzz").has_value() == make_capture_parser(bytes, "fuzz").has_value());
}

/// Whole records of an ordinary pcap file, counted in the plainest way.
std::optional<std::size_t> whole_records(Bytes bytes) {
  if (bytes.size() < 24) return std::nullopt;
  const auto magic = load<std::uint32_t>(bytes.data(), false);
  const bool swapped = magic == 0xd4c3b2a1 || magic == 0x4d3cb2a1;
  if (!swapped && magic != 0xa1b2c3d4 && magic != 0xa1b23c4d) return std::nullopt;
  const auto network = load<std::uint32_t>(bytes.data() + 20, swapped);
  if (load<std::uint16_t>(bytes.data() + 4, swapped) != 2 || load<std::uint16_t>(bytes.data() + 6, swapped) < 4 ||
      (network & 0x03ff0000) != 0) {
    return std::nullopt;
  }
  const std::uint32_t limit = max_captured_bytes(static_cast<LinkType>(network & 0xffff));
  std::size_t records = 0;
  for (std::size_t at = 24; bytes.size() - at >= 16; ++records) {
    const auto captured_bytes = load<std::uint32_t>(bytes.data() + at + 8, swapped);
    if (captured_bytes > limit || captured_bytes > bytes.size() - at - 16) break;
    at += 16 + captured_bytes;
  }
  return records;
}

}  // namespace

/// Input: how large the pieces of the stream are, the capture.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::size_t piece_bytes = 1 + std::size_t{data[0]} * data[0] / 16;
  const auto block = std::make_unique<std::uint8_t[]>(size - 1);
  std::copy_n(data + 1, size - 1, block.get());
  const Bytes bytes(block.get(), size - 1);

  check_head(bytes, piece_bytes);
  const Outcome whole = read_whole(bytes);
  require(whole == read_in_pieces(bytes, piece_bytes));
  if (const auto records = whole_records(bytes)) require(whole.packets.size() == *records);
  return 0;
}
