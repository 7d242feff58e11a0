// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/decode.hpp"
#include "pipeline/decode/layers.hpp"

namespace parshall {
namespace {

constexpr std::size_t kMsduHeaderBytes = 14;  ///< header of each packet in an aggregate: addresses and length

/// Returns whether the 802.11 header is padded to a multiple of 4 bytes, as by some drivers. Source: radiotap.org,
/// "Flags".
bool radiotap_says_padded(const Frame& frame, std::size_t at, std::size_t header_bytes) noexcept {
  constexpr std::uint32_t kHasTimer = 1u << 0, kHasFlags = 1u << 1, kMore = 1u << 31;
  constexpr std::uint8_t kPadded = 0x20;
  const std::uint32_t present = frame.le32(at + 4);
  if ((present & kHasFlags) == 0) return false;
  std::size_t field = 4;
  while (field + 4 <= header_bytes && (frame.le32(at + field) & kMore) != 0) field += 4;
  field += 4;
  if ((present & kHasTimer) != 0) field = (field + 7) / 8 * 8 + 8;
  return field < header_bytes && (frame.u8(at + field) & kPadded) != 0;
}

Step enter_radiotap(const Frame& frame, std::size_t at) noexcept {
  if (!frame.has(at, 8)) return Step::cut();
  const std::size_t header_bytes = frame.le16(at + 2);
  if (header_bytes < 8) return Step::not_ip();
  if (!frame.has(at, header_bytes)) return Step::cut();
  const bool padded = radiotap_says_padded(frame, at, header_bytes);
  Step step = pass_wlan(frame, at + header_bytes, WlanControl::standard);
  if (!padded || step.layer != Layer::llc) return step;
  const std::size_t behind_padding = step.is_aggregate ? kMsduHeaderBytes : 0;
  const std::size_t wlan_bytes = step.at - behind_padding - at - header_bytes;
  step.at = at + header_bytes + (wlan_bytes + 3) / 4 * 4 + behind_padding;
  return step;
}

Step enter_prism_or_avs(const Frame& frame, std::size_t at) noexcept {
  if (!frame.has(at, 8)) return Step::cut();
  constexpr std::uint32_t kAvsMagic = 0x80211000, kAvsMask = 0xfffff000;
  if ((frame.be32(at) & kAvsMask) == kAvsMagic) return Step::to(Layer::wlan, at + frame.be32(at + 4));
  constexpr std::size_t kPrismBytes = 144;
  return Step::to(Layer::wlan, at + kPrismBytes);
}

}  // namespace

Step enter_wlan(const Frame& frame, LinkType link_type, std::size_t at) noexcept {
  switch (link_type) {
    case LinkType::ieee802_11_radiotap:
      return enter_radiotap(frame, at);
    case LinkType::ieee802_11_prism:
    case LinkType::ieee802_11_avs:
      return enter_prism_or_avs(frame, at);
    default:
      return Step::to(Layer::wlan, at);
  }
}

Step pass_wlan(const Frame& frame, std::size_t at, WlanControl byte_order) noexcept {
  if (!frame.has(at, 2)) return Step::cut();
  const auto field = [&](std::size_t from) {
    return byte_order == WlanControl::swapped ? frame.be16(from) : frame.le16(from);
  };
  const std::uint32_t control = field(at);
  constexpr std::uint32_t kTypeMask = 0x000c, kData = 0x0008, kNoData = 0x0040, kQos = 0x0080, kToDs = 0x0100,
                          kFromDs = 0x0200, kProtected = 0x4000, kOrder = 0x8000;
  if ((control & kTypeMask) != kData || (control & (kNoData | kProtected)) != 0) return Step::not_ip();
  const bool qos = (control & kQos) != 0;
  std::size_t header_bytes = 24;
  if ((control & kToDs) != 0 && (control & kFromDs) != 0) header_bytes += 6;
  const std::size_t qos_at = at + header_bytes;
  if (qos) header_bytes += (control & kOrder) != 0 ? 6 : 2;
  if (!frame.has(at, header_bytes)) return Step::cut();
  constexpr std::uint32_t kFragmentMask = 0x000f;
  if ((field(at + 22) & kFragmentMask) != 0) return Step::not_ip();
  constexpr std::uint8_t kAggregated = 0x80;
  Step step = Step::to(Layer::llc, at + header_bytes);
  step.is_aggregate = qos && (frame.u8(qos_at) & kAggregated) != 0;
  if (step.is_aggregate) step.at += kMsduHeaderBytes;
  return step;
}

/// Source: IEEE 802.11-2020, section 9.3.2.2.2: each MSDU but the last is padded to 4 bytes.
std::uint32_t count_later_msdus(const RawPacket& packet) noexcept {
  const Frame frame(packet.data, packet.captured_bytes, packet.wire_bytes);
  Step step = enter_link(frame, packet.link_type, 0);
  if (step.layer == Layer::wlan) step = pass_wlan(frame, step.at, WlanControl::standard);
  if (!step.is_aggregate) return 0;
  std::uint32_t msdus = 0;
  for (std::size_t at = step.at - kMsduHeaderBytes; frame.has(at, kMsduHeaderBytes); ++msdus) {
    const std::size_t length = frame.be16(at + kMsduHeaderBytes - 2);
    if (length == 0) break;
    at += (kMsduHeaderBytes + length + 3) / 4 * 4;
  }
  return msdus == 0 ? 0 : msdus - 1;
}

}  // namespace parshall
