// SPDX-License-Identifier: Apache-2.0
#include "pipeline/capture/pcapng_parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "pipeline/capture/byte_order.hpp"

namespace parshall {
namespace {

constexpr std::uint32_t kByteOrderMagic = 0x1a2b3c4d;
constexpr std::size_t kHeadBytes = 8;      ///< type and length
constexpr std::size_t kFramingBytes = 12;  ///< type, length, length again

/// Returns the smallest body that a block of this type can have.
constexpr std::size_t min_body_bytes(std::uint32_t type) noexcept {
  switch (type) {
    case 0x0a0d0d0a:
      return 16;
    case 1:
      return 8;
    case 2:
      return 20;
    case 3:
      return 4;
    case 5:
      return 4;  // 12 by the draft, but no other block depends on its content
    case 6:
      return 20;
    default:
      return 0;
  }
}

/// Returns true if a statistics block of this length is read. Others are skipped: no packet depends on them.
constexpr bool holds_statistics(std::uint32_t block_bytes) noexcept {
  return block_bytes >= kFramingBytes + min_body_bytes(5) && block_bytes <= PcapngParser::kMaxBlockBytes;
}

/// Adds with a limit, so that sums with other counters cannot overflow.
std::uint64_t add_up(std::uint64_t a, std::uint64_t b) noexcept {
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 56;
  return std::min(std::min(a, kLargest) + std::min(b, kLargest), kLargest);
}

}  // namespace

template <class T>
T PcapngParser::field(const Block& block, std::size_t at) const noexcept {
  return load<T>(block.body.data() + at, swapped_);
}

Parsed PcapngParser::parse_records(std::span<const std::uint8_t> bytes, std::span<RawPacket> out) noexcept {
  Parsed done;
  while (done.packets < out.size()) {
    if (trailer_expected_ != 0 && !pass_over(bytes, done)) break;
    const auto rest = bytes.subspan(done.bytes);
    if (rest.size() < kFramingBytes) break;

    const auto type = load<std::uint32_t>(rest.data(), swapped_);
    if (type == kSectionHeader) {
      const auto magic = load<std::uint32_t>(rest.data() + kHeadBytes, false);
      if (magic != kByteOrderMagic && magic != byte_swapped(kByteOrderMagic)) {
        note_damage(fmt::format("a section header has the byte-order magic 0x{:08x}", magic), done);
        break;
      }
      swapped_ = magic != kByteOrderMagic;
    }
    const auto block_bytes = load<std::uint32_t>(rest.data() + 4, swapped_);
    if (block_bytes < kFramingBytes + (type == kInterfaceStatistics ? 0 : min_body_bytes(type)) ||
        block_bytes % 4 != 0) {
      note_damage(fmt::format("a block of type {} claims a length of {} bytes", type, block_bytes), done);
      break;
    }
    if (min_body_bytes(type) == 0 || (type == kInterfaceStatistics && !holds_statistics(block_bytes))) {
      bytes_to_pass_ = block_bytes - kFramingBytes;
      trailer_expected_ = block_bytes;
      done.bytes += kHeadBytes;
      continue;
    }
    if (block_bytes > kMaxBlockBytes) {
      note_damage(fmt::format("a block of type {} claims {} bytes (limit {})", type, block_bytes, kMaxBlockBytes),
                  done);
      break;
    }
    if (rest.size() < block_bytes) break;
    const auto trailer = load<std::uint32_t>(rest.data() + block_bytes - 4, swapped_);
    if (trailer != block_bytes) {
      note_damage(fmt::format("a block's two lengths differ: {} and {}", block_bytes, trailer), done);
      break;
    }
    const Found found =
        take_block({type, rest.subspan(kHeadBytes, block_bytes - kFramingBytes)}, out[done.packets], done);
    if (found == Found::damage) break;
    done.packets += found == Found::packet;
    done.bytes += block_bytes;
  }
  return done;
}

/// Skips the rest of an ignored block. Returns true once all of it has passed and its trailing length was right.
bool PcapngParser::pass_over(std::span<const std::uint8_t> bytes, Parsed& done) noexcept {
  const auto passed = std::min<std::uint64_t>(bytes_to_pass_, bytes.size() - done.bytes);
  bytes_to_pass_ -= passed;
  done.bytes += passed;
  if (bytes_to_pass_ > 0 || bytes.size() - done.bytes < 4) return false;
  const auto trailer = load<std::uint32_t>(bytes.data() + done.bytes, swapped_);
  if (trailer != trailer_expected_) {
    note_damage(fmt::format("a block's two lengths differ: {} and {}", trailer_expected_, trailer), done);
    return false;
  }
  done.bytes += 4;
  trailer_expected_ = 0;
  return true;
}

PcapngParser::Found PcapngParser::take_block(const Block& block, RawPacket& packet, Parsed done) noexcept {
  switch (block.type) {
    case kSectionHeader:
      return open_section(block, done) ? Found::nothing : Found::damage;
    case kInterface:
      return add_interface(block, done) ? Found::nothing : Found::damage;
    case kInterfaceStatistics:
      take_statistics(block);
      return Found::nothing;
    default:
      return take_packet(block, packet, done) ? Found::packet : Found::damage;
  }
}

bool PcapngParser::open_section(const Block& block, Parsed done) noexcept {
  const auto major = field<std::uint16_t>(block, 4);
  const auto minor = field<std::uint16_t>(block, 6);
  if (major != 1 || (minor != 0 && minor != 2)) {  // some writers write 1.2 for 1.0
    note_damage(fmt::format("pcapng version {}.{} is not supported (1.0 and 1.2 are)", major, minor), done);
    return false;
  }
  interfaces_.clear();
  return true;
}

template <class Take>
std::optional<PcapngParser::Option> PcapngParser::visit_options(const Block& block, std::size_t at,
                                                                Take take) const noexcept {
  constexpr std::uint16_t kEndOfOptions = 0;
  while (block.body.size() - at >= 4) {
    const Option option{field<std::uint16_t>(block, at), at + 4, field<std::uint16_t>(block, at + 2)};
    if (option.code == kEndOfOptions) break;
    if (option.bytes > block.body.size() - option.at) return option;
    take(option);
    at = std::min(block.body.size(), option.at + (option.bytes + 3) / 4 * 4);
  }
  return std::nullopt;
}

bool PcapngParser::add_interface(const Block& block, Parsed done) noexcept {
  if (interfaces_.size() == kMaxInterfaces) {
    note_damage(fmt::format("a section describes more than {} interfaces", kMaxInterfaces), done);
    return false;
  }
  constexpr std::uint16_t kResolution = 9, kOffset = 14;
  std::uint8_t resolution = 6;
  std::int64_t offset_seconds = 0;
  const auto too_long = visit_options(block, 8, [&](const Option& option) {
    if (option.code == kResolution && option.bytes >= 1) resolution = block.body[option.at];
    if (option.code == kOffset && option.bytes == 8)
      offset_seconds = std::bit_cast<std::int64_t>(field<std::uint64_t>(block, option.at));
  });
  if (too_long) {
    note_damage(fmt::format("an interface's option {} claims {} bytes, more than its block has", too_long->code,
                            too_long->bytes),
                done);
    return false;
  }
  interfaces_.push_back({static_cast<LinkType>(field<std::uint16_t>(block, 0)), field<std::uint32_t>(block, 4),
                         PcapngClock(resolution, offset_seconds)});
  return true;
}

bool PcapngParser::take_packet(const Block& block, RawPacket& packet, Parsed done) noexcept {
  const bool simple = block.type == kSimplePacket;
  const std::size_t header_bytes = simple ? 4 : 20;
  const std::uint32_t number = simple                          ? 0
                               : block.type == kObsoletePacket ? field<std::uint16_t>(block, 0)
                                                               : field<std::uint32_t>(block, 0);
  if (number >= interfaces_.size()) {
    note_damage(fmt::format("a packet names interface {}, but only {} were described", number, interfaces_.size()),
                done);
    return false;
  }
  Interface& from = interfaces_[number];
  const std::size_t room = block.body.size() - header_bytes;
  const auto wire_bytes = field<std::uint32_t>(block, simple ? 0 : 16);
  std::size_t captured_bytes = simple ? std::min<std::size_t>(wire_bytes, room) : field<std::uint32_t>(block, 12);
  if (simple && from.snap_bytes != 0) captured_bytes = std::min<std::size_t>(captured_bytes, from.snap_bytes);
  if (captured_bytes > room || captured_bytes > max_captured_bytes(from.link_type)) {
    note_damage(fmt::format("a packet claims {} captured bytes, its block has {} (limit {})", captured_bytes, room,
                            max_captured_bytes(from.link_type)),
                done);
    return false;
  }
  const std::uint64_t stamp =
      simple ? 0 : std::uint64_t{field<std::uint32_t>(block, 4)} << 32 | field<std::uint32_t>(block, 8);
  packet = {.data = block.body.data() + header_bytes,
            .time_ns = simple ? 0 : from.clock.time_ns(stamp),
            .captured_bytes = static_cast<std::uint32_t>(captured_bytes),
            .wire_bytes = wire_bytes,
            .link_type = from.link_type};
  if (simple) return true;
  const std::uint64_t before = from.lost();
  if (block.type == kObsoletePacket) {
    constexpr std::uint16_t kUnknown = 0xffff;
    const auto drops = field<std::uint16_t>(block, 2);
    if (drops == kUnknown) return true;
    from.lost_with_packets += drops;
    note_lost(from.lost() - before);
  } else if (const std::size_t options = header_bytes + (captured_bytes + 3) / 4 * 4; options < block.body.size()) {
    constexpr std::uint16_t kDropCount = 4;
    std::optional<std::uint64_t> drops;
    visit_options(block, options, [&](const Option& option) {
      if (option.code == kDropCount && option.bytes == 8) drops = field<std::uint64_t>(block, option.at);
    });
    if (!drops) return true;
    from.lost_with_packets = add_up(from.lost_with_packets, *drops);
    note_lost(from.lost() - before);
  }
  return true;
}

/// Takes a block's counts, which start at the interface's beginning. Blocks for undescribed interfaces are ignored.
void PcapngParser::take_statistics(const Block& block) noexcept {
  constexpr std::size_t kOptionsAt = 12;
  const auto number = field<std::uint32_t>(block, 0);
  if (number >= interfaces_.size() || block.body.size() < kOptionsAt) return;
  constexpr std::uint16_t kDroppedByInterface = 5, kDroppedBySystem = 7;
  Interface& of = interfaces_[number];
  const std::uint64_t before = of.lost();
  std::uint64_t lost = 0;
  bool tells = false;
  visit_options(block, kOptionsAt, [&](const Option& option) {
    if ((option.code != kDroppedByInterface && option.code != kDroppedBySystem) || option.bytes != 8) return;
    lost = add_up(lost, field<std::uint64_t>(block, option.at));
    tells = true;
  });
  of.lost_in_all = std::max(of.lost_in_all, lost);
  if (tells) note_lost(of.lost() - before);
}

void PcapngParser::note_cut(std::span<const std::uint8_t> rest) noexcept {
  if (trailer_expected_ != 0) {
    note_damage(
        fmt::format("a block of {} bytes is cut: {} are missing", trailer_expected_, bytes_to_pass_ + 4 - rest.size()),
        {});
  } else if (!rest.empty()) {
    note_damage(rest.size() < kFramingBytes
                    ? fmt::format("block header cut: {} of {} bytes", rest.size(), kFramingBytes)
                    : fmt::format("a block of {} bytes is cut: {} are left",
                                  load<std::uint32_t>(rest.data() + 4, swapped_), rest.size()),
                {});
  }
}

}  // namespace parshall
