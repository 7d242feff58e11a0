// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <vector>

#include "pipeline/capture/capture_parser.hpp"
#include "pipeline/capture/pcapng_clock.hpp"

namespace parshall {

/// Parser for pcapng: both byte orders, several sections and interfaces; Enhanced, Simple and the obsolete Packet
/// Block. Other blocks are skipped without buffering, whatever their size.
///
/// A packet whose block has no time (Simple Packet Block) gets time 0. Lengths are not corrected, as in PcapParser. An
/// interface's losses are stated with packets and as totals in Interface Statistics Blocks; the larger of both counts.
/// Source: draft-ietf-opsawg-pcapng.
class PcapngParser final : public CaptureParser {
 public:
  static constexpr std::uint32_t kMaxBlockBytes = 17u << 20;  ///< limit for a block whose content is used
  static constexpr std::size_t kMaxInterfaces = 1 << 16;

  static bool is_magic(std::uint32_t first_word) noexcept { return first_word == kSectionHeader; }

  /// Returns nullopt, as another interface may follow anywhere.
  std::optional<LinkType> only_link_type(std::span<const std::uint8_t>) const noexcept override { return std::nullopt; }

 protected:
  Parsed parse_records(std::span<const std::uint8_t> bytes, std::span<RawPacket> out) noexcept override;
  void note_cut(std::span<const std::uint8_t> rest) noexcept override;

 private:
  enum BlockType : std::uint32_t {
    kSectionHeader = 0x0a0d0d0a,  // reads the same in both byte orders
    kInterface = 1,
    kObsoletePacket = 2,
    kSimplePacket = 3,
    kInterfaceStatistics = 5,
    kEnhancedPacket = 6,
  };
  struct Interface {
    LinkType link_type;
    std::uint32_t snap_bytes;  ///< 0: no limit
    PcapngClock clock;
    std::uint64_t lost_with_packets = 0, lost_in_all = 0;  ///< losses as stated in each of the two ways

    std::uint64_t lost() const noexcept { return std::max(lost_with_packets, lost_in_all); }
  };
  struct Block {
    std::uint32_t type;
    std::span<const std::uint8_t> body;  ///< without type, lengths
  };
  enum class Found : std::uint8_t { packet, nothing, damage };

  bool pass_over(std::span<const std::uint8_t> bytes, Parsed& done) noexcept;
  Found take_block(const Block& block, RawPacket& packet, Parsed done) noexcept;
  bool open_section(const Block& block, Parsed done) noexcept;
  bool add_interface(const Block& block, Parsed done) noexcept;
  bool take_packet(const Block& block, RawPacket& packet, Parsed done) noexcept;
  void take_statistics(const Block& block) noexcept;

  struct Option {
    std::uint16_t code;
    std::size_t at, bytes;
  };
  /// Calls `take(option)` for each option from `at` on. Returns an option that is longer than its block, if any.
  template <class Take>
  std::optional<Option> visit_options(const Block& block, std::size_t at, Take take) const noexcept;

  template <class T>
  T field(const Block& block, std::size_t at) const noexcept;

  std::vector<Interface> interfaces_;
  std::uint64_t bytes_to_pass_ = 0;     ///< bytes left of an ignored block, without its trailing length
  std::uint32_t trailer_expected_ = 0;  ///< the trailing length that must follow; 0 if no such block is open
  bool swapped_ = false;
};

}  // namespace parshall
