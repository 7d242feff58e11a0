// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/application/dns_name.hpp"

#include <iterator>
#include <string_view>

namespace parshall {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::size_t kMostNameBytes = 255, kMostLabelBytes = 63;
constexpr std::uint8_t kPointer = 0xc0;

/// Appends a label. What does not fit is left out; an escape is never cut.
void append_label(Bytes label, ShortText<255>& name) noexcept {
  const std::string_view text = text_of(label);
  std::size_t from = 0;  // of the characters that are waiting to be copied as they are
  for (std::size_t i = 0; i < label.size(); ++i) {
    const std::uint8_t byte = label[i];
    if (byte > ' ' && byte < 0x7f && byte != '.' && byte != '\\') [[likely]]
      continue;
    const char escaped[] = {'\\', static_cast<char>('0' + byte / 100), static_cast<char>('0' + byte / 10 % 10),
                            static_cast<char>('0' + byte % 10)};
    name.append(text.substr(from, i - from));
    if (name.view().size() + std::size(escaped) > name.kMostBytes) return;
    name.append(std::string_view(escaped, std::size(escaped)));
    from = i + 1;
  }
  name.append(text.substr(from));
}

}  // namespace

Reading take_dns_name(Cursor& in, ShortText<255>& name) noexcept {
  const std::size_t left = in.left();
  name.clear();
  while (true) {
    const std::uint8_t bytes = in.u8();
    if (in.failed()) return Reading::needs_more;
    if (bytes == 0) break;
    if (bytes > kMostLabelBytes || left - in.left() + bytes >= kMostNameBytes) return Reading::unknown;
    const Bytes label = in.take(bytes);
    if (in.failed()) return Reading::needs_more;
    if (!name.empty()) name.append('.');
    append_label(label, name);
  }
  if (name.empty()) name.append('.');
  return Reading::done;
}

void skip_dns_name(Cursor& in) noexcept {
  while (!in.failed()) {
    const std::uint8_t bytes = in.u8();
    if (bytes == 0) return;
    if (bytes >= kPointer) {
      in.u8();
      return;
    }
    in.take(bytes);
  }
}

bool read_dns_name(Bytes message, std::size_t at, ShortText<255>& name) noexcept {
  std::size_t length = 0;
  name.clear();
  while (at < message.size()) {
    const std::uint8_t bytes = message[at];
    if (bytes == 0) {
      if (name.empty()) name.append('.');
      return true;
    }
    if (bytes >= kPointer) {
      if (at + 1 >= message.size()) return false;
      const std::size_t to = static_cast<std::size_t>(bytes & ~kPointer & 0xff) << 8 | message[at + 1];
      if (to >= at) return false;  // pointers go back, so this ends
      at = to;
      continue;
    }
    length += bytes + 1u;
    if (bytes > kMostLabelBytes || length >= kMostNameBytes || at + 1 + bytes > message.size()) return false;
    if (!name.empty()) name.append('.');
    append_label(message.subspan(at + 1, bytes), name);
    at += bytes + 1u;
  }
  return false;
}

}  // namespace parshall
