// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/application/http.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "pipeline/decode/application/cursor.hpp"

namespace parshall {
namespace {

// The most common ones first.
constexpr std::string_view kMethods[] = {"GET",
                                         "POST",
                                         "HEAD",
                                         "CONNECT",
                                         "OPTIONS",
                                         "PUT",
                                         "DELETE",
                                         "PATCH",
                                         "TRACE",
                                         "PROPFIND",
                                         "PROPPATCH",
                                         "REPORT",
                                         "MKCOL",
                                         "COPY",
                                         "MOVE",
                                         "LOCK",
                                         "UNLOCK",
                                         "SEARCH",
                                         "NOTIFY",
                                         "SUBSCRIBE",
                                         "UNSUBSCRIBE",
                                         "M-SEARCH",
                                         "QUERY",
                                         "ACL",
                                         "BIND",
                                         "CHECKIN",
                                         "CHECKOUT",
                                         "LABEL",
                                         "LINK",
                                         "MERGE",
                                         "MKACTIVITY",
                                         "MKCALENDAR",
                                         "ORDERPATCH",
                                         "REBIND",
                                         "MKWORKSPACE",
                                         "UNBIND",
                                         "MKREDIRECTREF",
                                         "UNCHECKOUT",
                                         "UNLINK",
                                         "UPDATE",
                                         "PURGE",
                                         "SOURCE",
                                         "UPDATEREDIRECTREF",
                                         "VERSION-CONTROL",
                                         "BASELINE-CONTROL"};
constexpr std::size_t kLongestMethod = std::ranges::max(kMethods, {}, &std::string_view::size).size();

Reading unknown(ApplicationFacts& facts) noexcept {
  facts.clear();
  return Reading::unknown;
}

/// Sets `method`, and takes it and the space behind it from the front of `text`.
Reading take_method(std::string_view& text, std::string_view& method) noexcept {
  const std::string_view front = text.substr(0, kLongestMethod + 1);
  const std::size_t space = front.find(' ');
  method = front.substr(0, space);
  if (space != std::string_view::npos) {
    if (std::ranges::find(kMethods, method) == std::end(kMethods)) return Reading::unknown;
    text.remove_prefix(space + 1);
    return Reading::done;
  }
  const bool may_be = std::ranges::any_of(kMethods, [&](std::string_view known) { return known.starts_with(method); });
  return may_be ? Reading::needs_more : Reading::unknown;
}

std::string_view trimmed(std::string_view text) noexcept {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// Sets `target`, and takes the rest of the first line from the front of `text`. Blanks in the target are let pass,
/// since careless clients and attackers send them.
Reading take_target(std::string_view& text, std::string_view& target) noexcept {
  constexpr std::string_view kVersion = " HTTP/1.";
  const auto end = std::ranges::find_if(
      text, [](char c) { return (static_cast<unsigned char>(c) < ' ' && c != '\t') || c == 0x7f; });
  const std::string_view line = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  std::string_view rest = text.substr(line.size());
  if (rest.starts_with('\r')) rest.remove_prefix(1);
  if (rest.empty()) return Reading::needs_more;
  const std::size_t version_at = line.rfind(kVersion);
  if (rest[0] != '\n' || version_at == std::string_view::npos) return Reading::unknown;
  const std::string_view minor = line.substr(version_at + kVersion.size());
  target = trimmed(line.substr(0, version_at));
  if (target.empty() || minor.empty() || minor[0] < '0' || minor[0] > '9') return Reading::unknown;
  text = rest.substr(1);
  return Reading::done;
}

bool equals(std::string_view name, std::string_view lower_case) noexcept {
  return std::ranges::equal(
      name, lower_case, [](char a, char b) { return (a >= 'A' && a <= 'Z' ? static_cast<char>(a | 0x20) : a) == b; });
}

/// Fields that are looked for, and whether they were found.
struct Found {
  bool host = false, user_agent = false;
};

/// Returns whether the line is the field of this name, and takes its value.
bool take_value(std::string_view line, std::string_view lower_case, ShortText<255>& value) noexcept {
  const std::size_t colon = lower_case.size();
  if (line.size() <= colon || line[colon] != ':' || !equals(line.substr(0, colon), lower_case)) return false;
  value.assign(trimmed(line.substr(colon + 1)));
  return true;
}

void read_field(std::string_view line, Found& found, ApplicationFacts& facts) noexcept {
  if (!found.host) found.host = take_value(line, "host", facts.http_host);
  if (!found.user_agent) found.user_agent = take_value(line, "user-agent", facts.http_user_agent);
}

/// Reads whole lines from the front of `text` up to the head's end.
Reading read_fields(std::string_view text, Found& found, ApplicationFacts& facts) noexcept {
  while (!found.host || !found.user_agent) {
    const void* const end = text.empty() ? nullptr : std::memchr(text.data(), '\n', text.size());
    if (end == nullptr) return Reading::needs_more;
    const auto bytes = static_cast<std::size_t>(static_cast<const char*>(end) - text.data());
    std::string_view line = text.substr(0, bytes);
    text.remove_prefix(bytes + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) return Reading::done;
    read_field(line, found, facts);
  }
  return Reading::done;
}

}  // namespace

Reading read_http(std::span<const std::uint8_t> stream, ApplicationFacts& facts) noexcept {
  facts.clear();
  const bool is_cut = stream.size() >= kMostHttpHeadBytes;
  std::string_view text = text_of(stream.first(std::min(stream.size(), kMostHttpHeadBytes)));
  std::string_view method, target;
  Reading reading = take_method(text, method);
  if (reading == Reading::done) reading = take_target(text, target);
  if (reading == Reading::needs_more && is_cut) return unknown(facts);
  if (reading != Reading::done) return reading;
  facts.protocol = ApplicationProtocol::http;
  Found found;
  reading = read_fields(text, found, facts);
  if (reading == Reading::needs_more && !is_cut) return reading;
  if (!found.host && method == "CONNECT") facts.http_host.assign(target);
  return Reading::done;
}

}  // namespace parshall
