// SPDX-License-Identifier: Apache-2.0
#include "pipeline/capture/filter_names.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <iterator>
#include <memory>

#include "base/suggestion.hpp"

namespace parshall {
namespace {

/// Words that are never names, unless behind a backslash. The list covers all versions of libpcap; a word that is
/// missing here is treated as a name.
constexpr std::string_view kKeywords[] = {
    "src",          "dst",           "host",         "net",        "mask",
    "port",         "portrange",     "proto",        "and",        "or",
    "not",          "ether",         "ip",           "ip6",        "arp",
    "rarp",         "tcp",           "udp",          "sctp",       "icmp",
    "icmp6",        "igmp",          "pim",          "vrrp",       "ah",
    "esp",          "stp",           "iso",          "isis",       "vlan",
    "mpls",         "less",          "greater",      "len",        "length",
    "inbound",      "outbound",      "llc",          "link",       "ppp",
    "wlan",         "broadcast",     "multicast",    "protochain", "tcpflags",
    "icmptype",     "icmpcode",      "tcp-fin",      "tcp-syn",    "tcp-rst",
    "tcp-push",     "tcp-ack",       "tcp-urg",      "icmp-echo",  "icmp-echoreply",
    "icmp-unreach", "icmp-redirect", "icmp-timxceed"};

constexpr std::string_view kHexadecimal = "0123456789abcdefABCDEF",
                           kOfWords = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";

bool is_of(std::string_view word, std::string_view characters) {
  return !word.empty() && word.find_first_not_of(characters) == word.npos;
}

/// Returns whether it is a number like 80, 10.1 or 192.0.2.1. A word with more parts is a name.
bool is_dotted(std::string_view word) {
  constexpr int kMostDots = 3;
  return is_of(word, "0123456789.") && std::ranges::count(word, '.') <= kMostDots && word.back() != '.';
}

bool is_hexadecimal(std::string_view word) {
  return (word.starts_with("0x") || word.starts_with("0X")) && is_of(word.substr(2), kHexadecimal);
}

/// Range of a word in an expression: [begin, end).
struct Word {
  std::size_t begin, end;
};

/// Returns the next word from `from` on; an empty one at the end.
Word next_word(std::string_view expression, std::size_t from) {
  const std::size_t begin = std::min(expression.find_first_of(kOfWords, from), expression.size());
  return {begin, std::min(expression.find_first_not_of(kOfWords, begin), expression.size())};
}

bool is_name(std::string_view expression, Word at) {
  const std::string_view word = expression.substr(at.begin, at.end - at.begin);
  const bool beside_colon =
      (at.begin > 0 && expression[at.begin - 1] == ':') || (at.end < expression.size() && expression[at.end] == ':');
  return !is_dotted(word) && !is_hexadecimal(word) && !(beside_colon && is_of(word, kHexadecimal)) &&
         std::ranges::find(kKeywords, word) == std::ranges::end(kKeywords);
}

/// Returns a host's addresses as "(192.0.2.1 or 2001:db8::1)", resolved as libpcap does; empty if the name is unknown.
std::string addresses_of(const std::string& name) {
  const addrinfo wanted{.ai_flags = 0, .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_protocol = IPPROTO_TCP};
  addrinfo* found = nullptr;
  if (::getaddrinfo(name.c_str(), nullptr, &wanted, &found) != 0) return "";
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> addresses(found, ::freeaddrinfo);
  std::string all;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    char text[NI_MAXHOST];
    if (::getnameinfo(each->ai_addr, each->ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0) return "";
    all.append(all.empty() ? "(" : " or ").append(text);
  }
  return all + ')';
}

}  // namespace

bool may_have_names(std::string_view expression) noexcept {
  if (expression.find('\\') != expression.npos) return true;
  for (Word word = next_word(expression, 0); word.begin < word.end; word = next_word(expression, word.end))
    if (is_name(expression, word)) return true;
  return false;
}

std::string nearest_filter_word(const std::string& word) {
  if (!may_have_names(word)) return {};
  return nearest_name(word, {std::begin(kKeywords), std::end(kKeywords)});
}

std::optional<std::string> with_addresses(std::string_view expression) {
  constexpr std::string_view kBeforeHosts[] = {"", "host", "src", "dst", "and", "or", "not"};
  if (expression.find('\\') != expression.npos) return std::nullopt;
  std::string result;
  std::size_t done = 0;
  std::string_view previous;
  for (Word word = next_word(expression, 0); word.begin < word.end; word = next_word(expression, word.end)) {
    const std::string_view text = expression.substr(word.begin, word.end - word.begin);
    if (is_name(expression, word)) {
      if (std::ranges::find(kBeforeHosts, previous) == std::ranges::end(kBeforeHosts)) return std::nullopt;
      const std::string addresses = addresses_of(std::string(text));
      if (addresses.empty()) return std::nullopt;
      result.append(expression, done, word.begin - done).append(addresses);
      done = word.end;
    }
    previous = text;
  }
  return result.append(expression, done);
}

}  // namespace parshall
