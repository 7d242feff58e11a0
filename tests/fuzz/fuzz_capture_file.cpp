// SPDX-License-Identifier: Apache-2.0
#include "capture_reading.hpp"
#include "pipeline/capture/byte_order.hpp"
#include "targets.hpp"

namespace parshall::fuzz {
namespace {

/// As the stream reader does it: pieces as they come, the rest of each carried over to the next.
std::optional<CaptureReading> read_in_pieces(Bytes bytes, std::size_t piece_bytes) {
  CaptureReading reading;
  const auto parser = make_capture_parser(bytes, "fuzz");
  if (!parser) return std::nullopt;
  std::array<RawPacket, 3> batch;
  std::vector<std::uint8_t> carried;
  for (std::size_t at = 0; at < bytes.size(); at += piece_bytes) {
    const Bytes piece = bytes.subspan(at, std::min(piece_bytes, bytes.size() - at));
    carried.insert(carried.end(), piece.begin(), piece.end());
    carried.shrink_to_fit();
    const std::size_t taken = take(**parser, carried, batch, reading);
    carried.erase(carried.begin(), carried.begin() + static_cast<std::ptrdiff_t>(taken));
  }
  (*parser)->finish(carried);
  reading.damage = (*parser)->damage();
  return reading;
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
void fuzz_capture_file(Bytes input) {
  if (input.empty()) return;
  const std::size_t piece_bytes = 1 + std::size_t{input[0]} * input[0] / 16;
  const Block block(input.subspan(1));
  const Bytes bytes = block.bytes();

  const auto whole = read_whole(bytes);
  // What is taken for a capture by as much of its beginning as is asked for is one by all of it.
  require(make_capture_parser(head_of(bytes, piece_bytes), "fuzz").has_value() == whole.has_value());
  require(whole == read_in_pieces(bytes, piece_bytes));
  if (const auto records = whole_records(bytes)) require(whole && whole->packets.size() == *records);
}

}  // namespace parshall::fuzz
