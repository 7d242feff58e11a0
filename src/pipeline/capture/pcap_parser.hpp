// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "pipeline/capture/capture_parser.hpp"

namespace parshall {

/// Parser for classic pcap: micro- and nanoseconds, both byte orders, the 24-byte records of the "modified" variant,
/// and the exchanged lengths of versions before 2.4.
///
/// Lengths are not corrected: if the captured length exceeds the wire length, both are delivered as stated.
/// Cost: about 2 ns a record, plus fetching its header from memory.
/// Source: draft-ietf-opsawg-pcap; libpcap's sf-pcap.c for the history of the formats.
class PcapParser final : public CaptureParser {
 public:
  static constexpr std::size_t kFileHeaderBytes = 24;

  static bool is_magic(std::uint32_t first_word) noexcept;

  std::optional<LinkType> only_link_type(std::span<const std::uint8_t> head) const noexcept override;

 protected:
  Parsed parse_records(std::span<const std::uint8_t> bytes, std::span<RawPacket> out) noexcept override;
  void note_cut(std::span<const std::uint8_t> rest) noexcept override;

 private:
  enum class Lengths : std::uint8_t { captured_first, wire_first, smaller_is_captured };

  bool parse_header(std::span<const std::uint8_t> bytes) noexcept;
  template <std::size_t kHeaderBytes, bool kSwapped>
  Parsed walk(std::span<const std::uint8_t> bytes, std::span<RawPacket> out) noexcept;
  void restore_length_order(std::uint32_t& captured_bytes, std::uint32_t& wire_bytes) const noexcept;

  std::size_t record_header_bytes_ = 0;  ///< 0 until the file header was read
  std::uint32_t fraction_ns_ = 1000;     ///< unit of the second time field
  std::uint32_t max_captured_bytes_ = 0;
  LinkType link_type_ = LinkType::null;
  Lengths lengths_ = Lengths::captured_first;
  bool swapped_ = false;
};

}  // namespace parshall
