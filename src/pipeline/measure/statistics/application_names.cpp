// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/statistics/application_names.hpp"

#include <algorithm>
#include <cstring>

namespace parshall {
namespace {

using enum NameColumn;

/// Beginning of the names in a row; the texts follow, one behind the other.
struct Head {
  ApplicationProtocol protocol;
  TlsVersion tls_version;
  std::uint8_t rcode_and_one;  ///< 0: none
  std::array<std::uint8_t, 3> lengths;
  bool is_answer;
  std::uint8_t unused;
};
static_assert(sizeof(Head) == 8);

constexpr std::size_t kMostAlpn = 127, kMostJa4 = 36;

/// Texts of a protocol, in the order of NamesOfFlow::texts.
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
  const std::size_t room = std::max({room_for(kOfTls, wanted), room_for(kOfHttp, wanted), room_for(kOfDns, wanted)});
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
      break;
  }
  return {};
}

ApplicationNames::State state_of(const std::byte* at) noexcept {
  ApplicationNames::State state;
  std::memcpy(&state, at, sizeof state);
  return state;
}

}  // namespace

std::string_view NamesOfFlow::text(NameColumn column) const noexcept {
  const Texts& own = texts_of(protocol);
  const auto at = std::ranges::find(own.columns.begin(), own.columns.begin() + own.count, column);
  return at == own.columns.begin() + own.count ? std::string_view()
                                               : texts[static_cast<std::size_t>(at - own.columns.begin())];
}

ApplicationNames::ApplicationNames(NameColumns wanted) noexcept : wanted_(wanted), row_bytes_(bytes_for(wanted)) {}

void ApplicationNames::write(const ApplicationFacts& facts, std::byte* carries) const noexcept {
  Head head{.protocol = facts.protocol,
            .tls_version = facts.tls_version,
            .rcode_and_one = facts.has_dns_rcode ? static_cast<std::uint8_t>(facts.dns_rcode + 1) : std::uint8_t{0},
            .lengths = {},
            .is_answer = facts.is_answer,
            .unused = 0};
  char* out = reinterpret_cast<char*>(carries) + sizeof head;
  const Texts& texts = texts_of(facts.protocol);
  for (std::size_t i = 0; i < texts.count; ++i) {
    if (!wanted_.has(texts.columns[i])) continue;
    char* const end = put_printable(out, text_of(facts, texts.columns[i]), texts.most[i]);
    head.lengths[i] = static_cast<std::uint8_t>(end - out);
    out = end;
  }
  std::memcpy(carries, &head, sizeof head);
}

NamesOfFlow ApplicationNames::read_names(const std::byte* row) noexcept {
  Head head;
  std::memcpy(&head, row, sizeof head);
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
  return state_of(state).is(State::has_names);
}

/// Clears what the names leave free, so that rows are the same for the same flow.
void ApplicationNames::write_row(const std::byte* state, const std::byte* carries, std::byte* row) const noexcept {
  std::size_t used = 0;
  if (has_carries(state)) {
    Head head;
    std::memcpy(&head, carries, sizeof head);
    used = sizeof head;
    for (const std::uint8_t length : head.lengths) used += length;
    std::memcpy(row, carries, used);
  }
  std::memset(row + used, 0, row_bytes_ - used);
}

void ApplicationNames::begin(std::byte* row) const noexcept {
  State state;
  state.set(State::is_open);
  std::memcpy(row, &state, sizeof state);
}

void ApplicationNames::add_other_way(std::byte* into, const std::byte* from) noexcept {
  constexpr std::size_t kAlpn = 1;
  Head own, other;
  std::memcpy(&own, into, sizeof own);
  std::memcpy(&other, from, sizeof other);
  if (other.protocol == ApplicationProtocol::none) return;
  if (own.protocol == ApplicationProtocol::none) {
    std::size_t used = sizeof other;
    for (const std::uint8_t length : other.lengths) used += length;
    std::memcpy(into, from, used);
    return;
  }
  const NamesOfFlow mine = read_names(into), theirs = read_names(from);
  const bool theirs_is_result = other.is_answer && !own.is_answer;
  std::array<std::string_view, 3> texts;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const bool prefers_theirs = i == kAlpn && &texts_of(own.protocol) == &kOfTls && theirs_is_result;
    const auto &first = prefers_theirs ? theirs.texts[i] : mine.texts[i],
               &second = prefers_theirs ? mine.texts[i] : theirs.texts[i];
    texts[i] = first.empty() && &texts_of(own.protocol) == &texts_of(other.protocol) ? second : first;
  }
  if (own.tls_version == TlsVersion::none || (theirs_is_result && other.tls_version != TlsVersion::none))
    own.tls_version = other.tls_version;
  if (own.rcode_and_one == 0) own.rcode_and_one = other.rcode_and_one;
  std::array<char, 3 * kMostText> all;
  char* end = all.data();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    own.lengths[i] = static_cast<std::uint8_t>(texts[i].size());
    end = std::ranges::copy(texts[i], end).out;
  }
  std::memcpy(into, &own, sizeof own);
  std::memcpy(into + sizeof own, all.data(), static_cast<std::size_t>(end - all.data()));
}

}  // namespace parshall
