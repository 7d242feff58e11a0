// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "pipeline/capture/capture_parser.hpp"

namespace parshall {

/// Parser for files of ERF records, as Endace's cards write them. They have no file header and no magic number.
///
/// A frame is delivered with its own link type, without the header before it and the padding behind it. Records of
/// other types are delivered whole, with the link type of ERF. Padding records are skipped. Times are rounded to the
/// nearest nanosecond, so a time converted from nanoseconds comes back unchanged.
class ErfParser final : public CaptureParser {
 public:
  enum class Looks : std::uint8_t { like_erf, unlike_erf, undecided };

  /// Returns whether an input that begins with `head` is ERF. `undecided` means that it looks like ERF, and that more
  /// bytes would decide.
  static Looks looks(std::span<const std::uint8_t> head) noexcept;

  /// Does the same for a whole input, or for a beginning that looks() has decided on.
  static bool is_erf(std::span<const std::uint8_t> input) noexcept;

  /// Returns nullopt, as each record states its own type.
  std::optional<LinkType> only_link_type(std::span<const std::uint8_t>) const noexcept override { return std::nullopt; }

 protected:
  Parsed parse_records(std::span<const std::uint8_t> bytes, std::span<RawPacket> out) noexcept override;
  void note_cut(std::span<const std::uint8_t> rest) noexcept override;
};

}  // namespace parshall
