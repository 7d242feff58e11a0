// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "pipeline/capture/capture_parser.hpp"

namespace parshall {

/// A file of ERF records, as Endace's cards write it. It has no header and no magic number.
///
/// Frames are delivered with their own link type, without what stands before them and without the padding behind them;
/// records of other types as they are, with the link type of ERF, and padding records not at all.
/// Times are rounded to the nearest nanosecond, so that those that a nanosecond was written to come back.
class ErfParser final : public CaptureParser {
 public:
  enum class Looks : std::uint8_t { like_erf, unlike_erf, undecided };

  /// Whether an input that begins so is ERF. `undecided`: all that is there looks like it, and more would tell.
  static Looks looks(std::span<const std::uint8_t> head) noexcept;

  /// The same of a whole input, or of the beginning of one that looks() has decided on.
  static bool is_erf(std::span<const std::uint8_t> input) noexcept;

  /// Each record says what it is of.
  std::optional<LinkType> only_link_type(std::span<const std::uint8_t>) const noexcept override { return std::nullopt; }

 protected:
  Parsed parse_records(std::span<const std::uint8_t> bytes, std::span<RawPacket> out) noexcept override;
  void note_cut(std::span<const std::uint8_t> rest) noexcept override;
};

}  // namespace parshall
