// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/statistics/application_names.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace parshall {
namespace {

using enum NameColumn;

/// Beginning of the names in a row; the texts follow, one behind the other.
struct Head {
  ApplicationProtocol protocol = ApplicationProtocol::none;
  TlsVersion tls_version : 7 = TlsVersion::none;
  bool is_answer : 1 = false;
  std::uint8_t rcode_and_one = 0;            ///< 0: none
  std::array<std::uint8_t, 5> lengths = {};  ///< of the texts, as in NamesOfFlow
};
static_assert(sizeof(Head) == 8);

/// Places in NamesOfFlow::texts.
enum TextPlace : std::size_t { kSource, kDestination, kOfProtocol };
constexpr std::size_t kMostAlpn = 127, kMostJa4 = 36;

/// Texts of a protocol, in the order of NamesOfFlow::texts from kOfProtocol on.
struct Texts {
  std::array<NameColumn, 3> columns;
  std::array<std::size_t, 3> most;
  std::size_t count;
};
constexpr Texts kOfTls{{server_name, alpn, ja4}, {kMostText, kMostAlpn, kMostJa4}, 3};
constexpr Texts kOfHttp{{http_host, http_user_agent}, {kMostText, kMostText}, 2};
constexpr Texts kOfDns{{dns_name}, {kMostText}, 1};

const Texts& texts_of(ApplicationProtocol protocol) noexcept {
  switch (protocol) {
    case ApplicationProtocol::http:
      return kOfHttp;
    case ApplicationProtocol::dns:
      return kOfDns;
    case ApplicationProtocol::none:
    case ApplicationProtocol::tls:
    case ApplicationProtocol::quic:
      break;
  }
  return kOfTls;
}

std::size_t room_for(const Texts& texts, NameColumns wanted) noexcept {
  std::size_t room = 0;
  for (std::size_t i = 0; i < texts.count; ++i) room += wanted.has(texts.columns[i]) ? texts.most[i] : 0;
  return room;
}

std::size_t bytes_for(NameColumns wanted) noexcept {
  const std::size_t addresses = (wanted.has(src_name) ? kMostText : 0) + (wanted.has(dst_name) ? kMostText : 0);
  const std::size_t room =
      addresses + std::max({room_for(kOfTls, wanted), room_for(kOfHttp, wanted), room_for(kOfDns, wanted)});
  return (sizeof(Head) + room + 7) / 8 * 8;
}

/// Writes a text as printable ASCII, at most `most` bytes. Returns the end.
char* put_printable(char* out, std::string_view text, std::size_t most) noexcept {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const char* const end = out + most;
  for (const char each : text) {
    const auto byte = static_cast<std::uint8_t>(each);
    if (byte >= 0x20 && byte < 0x7f) {
      if (out == end) break;
      *out++ = each;
    } else {
      if (end - out < 4) break;
      for (const char part : {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]}) *out++ = part;
    }
  }
  return out;
}

std::string_view text_of(const ApplicationFacts& facts, NameColumn column) noexcept {
  switch (column) {
    case server_name:
      return facts.server_name.view();
    case alpn:
      return facts.alpn.view();
    case ja4:
      return facts.ja4.view();
    case http_host:
      return facts.http_host.view();
    case http_user_agent:
      return facts.http_user_agent.view();
    case dns_name:
      return facts.dns_name.view();
    case tls_version:
    case dns_rcode:
    case src_name:
    case dst_name:
      break;
  }
  return {};
}

Head head_of(const std::byte* at) noexcept {
  Head head;
  std::memcpy(&head, at, sizeof head);
  return head;
}

std::size_t bytes_of(const Head& head) noexcept {
  return std::accumulate(head.lengths.begin(), head.lengths.end(), sizeof head);
}

}  // namespace

std::string_view NamesOfFlow::text(NameColumn column) const noexcept {
  if (column == src_name) return texts[kSource];
  if (column == dst_name) return texts[kDestination];
  const Texts& own = texts_of(protocol);
  const auto at = std::ranges::find(own.columns.begin(), own.columns.begin() + own.count, column);
  return at == own.columns.begin() + own.count
             ? std::string_view()
             : texts[kOfProtocol + static_cast<std::size_t>(at - own.columns.begin())];
}

ApplicationNames::ApplicationNames(NameColumns wanted) noexcept : wanted_(wanted), row_bytes_(bytes_for(wanted)) {}

void ApplicationNames::write(const ApplicationFacts& facts, State& state, std::byte* carries) const noexcept {
  Head head;
  if (state.is(State::has_names)) head = head_of(carries);  // those of the addresses
  head.protocol = facts.protocol;
  head.tls_version = facts.tls_version;
  head.is_answer = facts.is_answer;
  if (facts.has_dns_rcode) head.rcode_and_one = static_cast<std::uint8_t>(facts.dns_rcode + 1);
  char* out = reinterpret_cast<char*>(carries) + bytes_of(head);
  const Texts& texts = texts_of(facts.protocol);
  for (std::size_t i = 0; i < texts.count; ++i) {
    if (!wanted_.has(texts.columns[i])) continue;
    char* const end = put_printable(out, text_of(facts, texts.columns[i]), texts.most[i]);
    head.lengths[kOfProtocol + i] = static_cast<std::uint8_t>(end - out);
    out = end;
  }
  std::memcpy(carries, &head, sizeof head);
  state.set(State::has_names);
}

void ApplicationNames::write_addresses(std::string_view source, std::string_view destination, State& state,
                                       std::byte* carries) const noexcept {
  Head head;
  char* out = reinterpret_cast<char*>(carries) + sizeof head;
  const auto put = [&](TextPlace place, NameColumn column, std::string_view name) {
    if (!wanted_.has(column)) return;
    char* const end = put_printable(out, name, kMostText);
    head.lengths[place] = static_cast<std::uint8_t>(end - out);
    out = end;
  };
  put(kSource, src_name, source);
  put(kDestination, dst_name, destination);
  if (bytes_of(head) == sizeof head) return;
  std::memcpy(carries, &head, sizeof head);
  state.set(State::has_names);
}

NamesOfFlow ApplicationNames::read_names(const std::byte* row) noexcept {
  const Head head = head_of(row);
  NamesOfFlow names{.protocol = head.protocol, .tls_version = head.tls_version};
  if (head.rcode_and_one != 0) names.dns_rcode = static_cast<std::uint8_t>(head.rcode_and_one - 1);
  const char* at = reinterpret_cast<const char*>(row) + sizeof head;
  for (std::size_t i = 0; i < names.texts.size(); ++i) {
    names.texts[i] = {at, head.lengths[i]};
    at += head.lengths[i];
  }
  return names;
}

bool ApplicationNames::has_carries(const std::byte* state) const noexcept {
  return (std::to_integer<unsigned>(state[7]) & State::has_names) != 0;
}

/// Clears what the names leave free, so that rows are the same for the same flow.
void ApplicationNames::write_row(const std::byte* state, const std::byte* carries, std::byte* row) const noexcept {
  std::size_t used = 0;
  if (has_carries(state)) {
    used = bytes_of(head_of(carries));
    std::memcpy(row, carries, used);
  }
  std::memset(row + used, 0, row_bytes_ - used);
}

void ApplicationNames::begin(std::byte* row) const noexcept {
  State state;
  state.set(State::is_open);
  std::memcpy(row, &state, sizeof state);
}

void ApplicationNames::add(std::byte* into, const std::byte* from, Way way) const noexcept {
  constexpr std::size_t kAlpn = kOfProtocol + 1;
  Head own = head_of(into);
  const Head other = head_of(from);
  const NamesOfFlow mine = read_names(into), theirs = read_names(from);
  std::array<std::string_view, 5> texts = mine.texts;
  const auto take = [](std::string_view& text, std::string_view more) {
    if (text.empty()) text = more;
  };
  const bool is_back = way == Way::opposite;
  if (wanted_.has(src_name)) take(texts[kSource], theirs.texts[is_back ? kDestination : kSource]);
  if (wanted_.has(dst_name)) take(texts[kDestination], theirs.texts[is_back ? kSource : kDestination]);
  const bool is_first = own.protocol == ApplicationProtocol::none;
  if (is_first) own.protocol = other.protocol;
  if (other.protocol != ApplicationProtocol::none && &texts_of(own.protocol) == &texts_of(other.protocol))
    for (std::size_t i = kOfProtocol; i < texts.size(); ++i) take(texts[i], theirs.texts[i]);
  const bool theirs_is_result = other.is_answer && !own.is_answer;
  if (theirs_is_result && &texts_of(own.protocol) == &kOfTls && !theirs.texts[kAlpn].empty())
    texts[kAlpn] = theirs.texts[kAlpn];
  if (own.tls_version == TlsVersion::none || (theirs_is_result && other.tls_version != TlsVersion::none))
    own.tls_version = other.tls_version;
  if (is_first) own.is_answer = other.is_answer;
  if (own.rcode_and_one == 0) own.rcode_and_one = other.rcode_and_one;
  std::array<char, 5 * kMostText> all;
  char* end = all.data();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    own.lengths[i] = static_cast<std::uint8_t>(texts[i].size());
    end = std::ranges::copy(texts[i], end).out;
  }
  std::memcpy(into, &own, sizeof own);
  std::memcpy(into + sizeof own, all.data(), static_cast<std::size_t>(end - all.data()));
}

}  // namespace parshall
