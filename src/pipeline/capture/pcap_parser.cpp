// SPDX-License-Identifier: Apache-2.0
#include "pipeline/capture/pcap_parser.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/prefetch.hpp"
#include "pipeline/capture/byte_order.hpp"

namespace parshall {
namespace {

constexpr std::uint32_t kMicroseconds = 0xa1b2c3d4;
constexpr std::uint32_t kNanoseconds = 0xa1b23c4d;
constexpr std::uint32_t kModified = 0xa1b2cd34;  ///< Alexey Kuznetzov's libpcap patch: 8 more bytes in a record header

constexpr std::size_t kRecordBytes = 16;
constexpr std::size_t kModifiedRecordBytes = 24;
constexpr std::size_t kPrefetchBytes = 1536;

bool is_native_magic(std::uint32_t magic) noexcept {
  return magic == kMicroseconds || magic == kNanoseconds || magic == kModified;
}

}  // namespace

bool PcapParser::is_magic(std::uint32_t first_word) noexcept {
  return is_native_magic(first_word) || is_native_magic(byte_swapped(first_word));
}

std::optional<LinkType> PcapParser::only_link_type(std::span<const std::uint8_t> head) const noexcept {
  PcapParser other;
  if (head.size() < kFileHeaderBytes || !other.parse_header(head)) return std::nullopt;
  return other.link_type_;
}

Parsed PcapParser::parse_records(std::span<const std::uint8_t> bytes, std::span<RawPacket> out) noexcept {
  if (record_header_bytes_ == 0) [[unlikely]] {
    if (bytes.size() < kFileHeaderBytes || !parse_header(bytes)) return {};
    return {.packets = 0, .bytes = kFileHeaderBytes};
  }
  if (record_header_bytes_ == kModifiedRecordBytes) [[unlikely]] {
    return swapped_ ? walk<kModifiedRecordBytes, true>(bytes, out) : walk<kModifiedRecordBytes, false>(bytes, out);
  }
  return swapped_ ? walk<kRecordBytes, true>(bytes, out) : walk<kRecordBytes, false>(bytes, out);
}

bool PcapParser::parse_header(std::span<const std::uint8_t> bytes) noexcept {
  auto magic = load<std::uint32_t>(bytes.data(), false);
  swapped_ = !is_native_magic(magic);
  if (swapped_) magic = byte_swapped(magic);

  const auto major = load<std::uint16_t>(bytes.data() + 4, swapped_);
  const auto minor = load<std::uint16_t>(bytes.data() + 6, swapped_);
  constexpr std::uint16_t kDgUx = 543;
  if (major != 2 && major != kDgUx) {
    note_damage(fmt::format("pcap version {}.{} is not supported (2.x is)", major, minor), {});
    return false;
  }
  const auto network = load<std::uint32_t>(bytes.data() + 20, swapped_);
  constexpr std::uint32_t kReserved = 0x03ff0000;  // the bits above hold the length of a frame check sequence
  if ((network & kReserved) != 0) {
    note_damage(fmt::format("the link type field 0x{:08x} has reserved bits set", network), {});
    return false;
  }
  link_type_ = static_cast<LinkType>(network & 0xffff);
  max_captured_bytes_ = parshall::max_captured_bytes(link_type_);
  fraction_ns_ = magic == kNanoseconds ? 1 : 1000;
  if (major == kDgUx || minor < 3) lengths_ = Lengths::wire_first;
  if (major == 2 && minor == 3) lengths_ = Lengths::smaller_is_captured;
  record_header_bytes_ = magic == kModified ? kModifiedRecordBytes : kRecordBytes;
  return true;
}

void PcapParser::restore_length_order(std::uint32_t& captured_bytes, std::uint32_t& wire_bytes) const noexcept {
  if (lengths_ == Lengths::wire_first || captured_bytes > wire_bytes) std::swap(captured_bytes, wire_bytes);
}

template <std::size_t kHeaderBytes, bool kSwapped>
Parsed PcapParser::walk(std::span<const std::uint8_t> bytes, std::span<RawPacket> out) noexcept {
  const std::uint32_t fraction_ns = fraction_ns_;
  const std::uint32_t max_captured = max_captured_bytes_;
  const LinkType link_type = link_type_;
  const bool ordinary_lengths = lengths_ == Lengths::captured_first;
  const std::uint8_t* record = bytes.data();
  const std::uint8_t* const end = record + bytes.size();
  std::size_t packets = 0;
  while (packets < out.size() && static_cast<std::size_t>(end - record) >= kHeaderBytes) {
    // Each header's place depends on the one before, and the hardware prefetcher stops at every 4 KiB page. This halves
    // the time per record of a file in memory.
    prefetch_line(record + kPrefetchBytes);
    const auto seconds = load<std::uint32_t>(record, kSwapped);
    const auto fraction = load<std::uint32_t>(record + 4, kSwapped);
    auto captured_bytes = load<std::uint32_t>(record + 8, kSwapped);
    auto wire_bytes = load<std::uint32_t>(record + 12, kSwapped);
    if (!ordinary_lengths) [[unlikely]]
      restore_length_order(captured_bytes, wire_bytes);
    if (captured_bytes > max_captured) [[unlikely]] {
      note_damage(fmt::format("a record claims {} captured bytes (limit {})", captured_bytes, max_captured),
                  {packets, static_cast<std::size_t>(record - bytes.data())});
      break;
    }
    if (captured_bytes > static_cast<std::size_t>(end - record) - kHeaderBytes) [[unlikely]]
      break;
    // Cannot overflow: 2^32 seconds are 2^62 ns, and any fraction, valid or not, adds less than 2^42.
    out[packets++] = {.data = record + kHeaderBytes,
                      .time_ns = seconds * std::uint64_t{1'000'000'000} + std::uint64_t{fraction} * fraction_ns,
                      .captured_bytes = captured_bytes,
                      .wire_bytes = wire_bytes,
                      .link_type = link_type};
    record += kHeaderBytes + captured_bytes;
  }
  return {packets, static_cast<std::size_t>(record - bytes.data())};
}

void PcapParser::note_cut(std::span<const std::uint8_t> rest) noexcept {
  if (record_header_bytes_ == 0) {
    note_damage(fmt::format("file header cut: {} of {} bytes", rest.size(), kFileHeaderBytes), {});
  } else if (!rest.empty() && rest.size() < record_header_bytes_) {
    note_damage(fmt::format("record header cut: {} of {} bytes", rest.size(), record_header_bytes_), {});
  } else if (!rest.empty()) {
    auto captured_bytes = load<std::uint32_t>(rest.data() + 8, swapped_);
    auto wire_bytes = load<std::uint32_t>(rest.data() + 12, swapped_);
    if (lengths_ != Lengths::captured_first) restore_length_order(captured_bytes, wire_bytes);
    note_damage(fmt::format("captured bytes cut: {} of {}", rest.size() - record_header_bytes_, captured_bytes), {});
  }
}

}  // namespace parshall
