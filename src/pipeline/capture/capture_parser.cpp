// SPDX-License-Identifier: Apache-2.0
#include "pipeline/capture/capture_parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "pipeline/capture/byte_order.hpp"
#include "pipeline/capture/erf_parser.hpp"
#include "pipeline/capture/pcap_parser.hpp"
#include "pipeline/capture/pcapng_parser.hpp"

namespace parshall {
namespace {

struct KnownFormat {
  std::string_view magic;
  std::string_view what;
  std::string_view advice;  ///< {} stands for the file
};

constexpr std::string_view kConvert = "convert it first: editcap {} OUT.pcapng";
constexpr std::array kKnownFormats{
    KnownFormat{"BZh", "compressed with bzip2", "decompress it on the way: bzcat {} | parshall watch -r -"},
    KnownFormat{"\x02\x21\x4c\x18", "compressed with lz4's legacy format",
                "decompress it on the way: lz4 -dc {} | parshall watch -r -"},
    KnownFormat{"snoop", "a snoop capture", kConvert},
    KnownFormat{"GMBU", "a Network Monitor capture", kConvert},
    KnownFormat{"RTSS", "a Network Monitor capture", kConvert},
};

bool has_magic(std::span<const std::uint8_t> head) noexcept {
  if (head.size() < 4) return false;
  const auto magic = load<std::uint32_t>(head.data(), false);
  if (PcapngParser::is_magic(magic) || PcapParser::is_magic(magic)) return true;
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  return std::ranges::any_of(kKnownFormats, [&](const KnownFormat& format) { return text.starts_with(format.magic); });
}

std::string hex(std::span<const std::uint8_t> bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) text += fmt::format("{}{:02x}", text.empty() ? "" : " ", byte);
  return text;
}

Error not_a_capture(std::span<const std::uint8_t> head, const std::string& name) {
  if (head.empty()) return {fmt::format("{} is empty: there is no capture to read", name)};
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  for (const KnownFormat& format : kKnownFormats) {
    if (!text.starts_with(format.magic)) continue;
    const std::string_view file =
        name == kStandardInput || name.ends_with(kDecompressed) ? "FILE" : std::string_view(name);
    return {fmt::format("{} is {}; {}", name, format.what, fmt::format(fmt::runtime(format.advice), file))};
  }
  const auto shown = head.first(std::min(head.size(), kMagicBytes));
  const bool printable = std::all_of(shown.begin(), shown.end(), [](std::uint8_t c) { return c >= ' ' && c <= '~'; });
  return {fmt::format("{} is not a pcap, pcapng or ERF capture: it begins with {}", name,
                      printable ? fmt::format("\"{}\"", text.substr(0, shown.size())) : hex(shown))};
}

}  // namespace

void CaptureParser::note_damage(std::string what, Parsed before) noexcept {
  damage_ =
      fmt::format("{}, at packet {}, byte offset {}", what, packets_ + before.packets + 1, offset_ + before.bytes);
}

std::uint32_t max_captured_bytes(LinkType link_type) noexcept {
  constexpr std::uint16_t kDbus = 231, kUsbPcap = 249, kEbhscr = 279;
  const auto number = static_cast<std::uint16_t>(link_type);
  return number == kDbus || number == kUsbPcap || number == kEbhscr ? 16u << 20 : 256u << 10;
}

bool wants_longer_head(std::span<const std::uint8_t> head) noexcept {
  if (head.size() < kMagicBytes) return true;
  return !has_magic(head) && ErfParser::looks(head) == ErfParser::Looks::undecided;
}

Result<std::unique_ptr<CaptureParser>> make_capture_parser(std::span<const std::uint8_t> head,
                                                           const std::string& name) {
  if (head.size() < 4) return not_a_capture(head, name);
  const auto magic = load<std::uint32_t>(head.data(), false);
  if (PcapngParser::is_magic(magic)) return std::unique_ptr<CaptureParser>(std::make_unique<PcapngParser>());
  if (PcapParser::is_magic(magic)) return std::unique_ptr<CaptureParser>(std::make_unique<PcapParser>());
  if (!has_magic(head) && ErfParser::is_erf(head)) return std::unique_ptr<CaptureParser>(std::make_unique<ErfParser>());
  return not_a_capture(head, name);
}

}  // namespace parshall
