// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace parshall {

/// Text of at most `kMost` bytes, kept in place. What does not fit is cut off.
///
/// Shape: a length byte and `kMost` bytes, of which those behind the length are unspecified.
template <std::size_t kMost>
class ShortText {
  static_assert(kMost <= 255, "the length is one byte");

 public:
  static constexpr std::size_t kMostBytes = kMost;

  void clear() noexcept { length_ = 0; }
  void assign(std::string_view text) noexcept {
    clear();
    append(text);
  }
  void append(std::string_view text) noexcept {
    const std::size_t bytes = std::min(text.size(), kMost - length_);
    if (bytes != 0) std::memcpy(bytes_.data() + length_, text.data(), bytes);
    length_ = static_cast<std::uint8_t>(length_ + bytes);
  }
  void append(char character) noexcept { append(std::string_view(&character, 1)); }

  std::string_view view() const noexcept { return {bytes_.data(), length_}; }
  bool empty() const noexcept { return length_ == 0; }
  bool full() const noexcept { return length_ == kMost; }

  friend bool operator==(const ShortText& a, const ShortText& b) noexcept { return a.view() == b.view(); }

 private:
  std::uint8_t length_ = 0;
  std::array<char, kMost> bytes_;
};

/// Versions of TLS, the oldest first. `none` also stands for every version that is not listed here.
enum class TlsVersion : std::uint8_t { none, ssl_3_0, tls_1_0, tls_1_1, tls_1_2, tls_1_3 };
inline constexpr std::array<std::string_view, 6> kTlsVersionNames = {"",        "SSL 3.0", "TLS 1.0",
                                                                     "TLS 1.1", "TLS 1.2", "TLS 1.3"};

/// Names of the response codes that fit the DNS header, as the registry of IANA writes them.
inline constexpr std::array<std::string_view, 16> kDnsRcodeNames = {
    "NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN",  "NOTIMP",  "REFUSED", "YXDOMAIN", "YXRRSET",
    "NXRRSET", "NOTAUTH", "NOTZONE",  "DSOTYPENI", "RCODE12", "RCODE13", "RCODE14",  "RCODE15"};

enum class ApplicationProtocol : std::uint8_t { none, tls, quic, http, dns };

/// Says how far a parser came.
enum class Reading : std::uint8_t {
  unknown,     ///< the bytes are of another protocol, or broken; the facts are cleared
  needs_more,  ///< the bytes may be of the protocol, but end too early; the facts have what precedes the end
  done,        ///< the facts are filled
};

/// Says which facts to compute that take more than parsing.
struct ApplicationWishes {
  bool ja4 = false;
  bool quic = true;  ///< which takes OpenSSL
};

/// Facts that one direction of a flow says of itself in its first bytes. Texts are the bytes as sent, which may be
/// anything, unless their comment says otherwise.
///
/// Shape: about 1.1 KB; only the bytes that a text has are ever written.
struct ApplicationFacts {
  ApplicationProtocol protocol = ApplicationProtocol::none;
  TlsVersion tls_version = TlsVersion::none;  ///< of a ClientHello the highest offered, of a ServerHello the chosen one
  bool is_answer = false;                     ///< a ServerHello, not a ClientHello
  bool has_dns_rcode = false;                 ///< true for responses of DNS
  std::uint8_t dns_rcode = 0;
  ShortText<255> server_name;  ///< SNI (RFC 6066)
  ShortText<255> http_host;    ///< with its port, if one was sent
  ShortText<255> http_user_agent;
  ShortText<255> dns_name;  ///< of the first question: printable ASCII, other bytes as \DDD (RFC 1035, 5.1)
  ShortText<127> alpn;      ///< names as sent, joined by ","
  ShortText<36> ja4;

  bool has_any() const noexcept {
    return !server_name.empty() || !http_host.empty() || !http_user_agent.empty() || !dns_name.empty() ||
           !alpn.empty() || tls_version != TlsVersion::none;
  }

  void clear() noexcept {
    protocol = ApplicationProtocol::none;
    tls_version = TlsVersion::none;
    is_answer = has_dns_rcode = false;
    dns_rcode = 0;
    server_name.clear();
    http_host.clear();
    http_user_agent.clear();
    dns_name.clear();
    alpn.clear();
    ja4.clear();
  }
};
static_assert(std::is_trivially_copyable_v<ApplicationFacts>);

}  // namespace parshall
