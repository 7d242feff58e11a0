// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/application/tls.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "pipeline/decode/application/cursor.hpp"
#include "pipeline/decode/application/ja4.hpp"

namespace parshall {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::size_t kRecordHeaderBytes = 5, kHandshakeHeaderBytes = 4;
constexpr std::size_t kMostRecordBytes = (1 << 14) + 256;  // RFC 8446, 5.2
constexpr std::uint8_t kAlertRecord = 21, kHandshakeRecord = 22;
enum HandshakeType : std::uint8_t { client_hello = 1, server_hello = 2 };
enum ExtensionType : std::uint16_t {
  server_name = 0,
  signature_algorithms = 13,
  application_layer_protocol_negotiation = 16,
  supported_versions = 43
};

TlsVersion version_of(std::uint16_t version) noexcept {
  constexpr std::uint16_t kFirst = 0x0300, kLast = 0x0304;
  if (version >= kFirst && version <= kLast)
    return static_cast<TlsVersion>(version - kFirst + static_cast<int>(TlsVersion::ssl_3_0));
  const bool is_draft = version >= 0x7f0e && version <= 0x7f1c;  // of TLS 1.3, 14 to 28
  return is_draft ? TlsVersion::tls_1_3 : TlsVersion::none;
}

/// One hello on its way into the facts.
class HelloReader {
 public:
  HelloReader(HandshakeType type, ApplicationFacts& facts) noexcept : type_(type), facts_(facts) {}

  /// Reads as much as there is. Returns false where lengths contradict each other; `is_whole` says that the body ends
  /// where the message does.
  bool read(Bytes body, bool is_whole) noexcept {
    Cursor in(body);
    const std::uint16_t legacy_version = in.be16();
    in.take(32);  // random
    in.skip8();   // session
    if (type_ == client_hello) {
      const Bytes ciphers = in.take(in.be16());
      hello_.ciphers = ciphers.first(ciphers.size() / 2 * 2);
      in.skip8();  // compression methods
    } else {
      in.take(3);  // cipher, compression method
    }
    if (in.failed()) return false;
    hello_.version = legacy_version;
    facts_.tls_version = version_of(legacy_version);
    facts_.is_answer = type_ == server_hello;
    if (in.empty()) return true;  // without extensions, as before TLS 1.2
    const std::size_t extensions_bytes = in.be16();
    if (in.failed()) return false;
    const bool fits = extensions_bytes == in.left();
    hello_.extensions = in.take(std::min(extensions_bytes, in.left()));
    return read_extensions() && (fits || !is_whole);
  }

  /// Returns whether the facts hold what a hello is read for, whatever comes behind.
  bool has_enough() const noexcept { return type_ == client_hello ? !facts_.server_name.empty() : has_versions(); }
  /// Returns whether the version is known for sure: the legacy one says TLS 1.2 of TLS 1.3 too.
  bool has_versions() const noexcept { return has_versions_; }
  const ClientHello& hello() const noexcept { return hello_; }

 private:
  static constexpr std::uint64_t bit(std::uint16_t type) noexcept { return std::uint64_t{1} << type; }

  bool read_extensions() noexcept {
    for (Cursor in(hello_.extensions); !in.empty();) {
      const std::uint16_t type = in.be16();
      const Bytes content = in.take(in.be16());
      if (in.failed()) return false;
      if (type >= 64 || (seen_ & bit(type)) != 0) continue;
      seen_ |= bit(type);
      if (!read_extension(type, content)) return false;
    }
    return true;
  }
  bool read_extension(std::uint16_t type, Bytes content) noexcept {
    switch (type) {
      case server_name:
        hello_.has_server_name = true;
        return type_ == server_hello || content.empty() || read_server_name(content);
      case application_layer_protocol_negotiation:
        return read_alpn(content);
      case supported_versions:
        return read_versions(content);
      case signature_algorithms: {
        Cursor in(content);
        hello_.signature_algorithms = in.take(in.be16());
        return !in.failed();
      }
      default:
        return true;
    }
  }
  bool read_server_name(Bytes content) noexcept {
    Cursor outer(content);
    for (Cursor in(outer.take(outer.be16())); !in.empty();) {
      constexpr std::uint8_t kHostName = 0;
      const std::uint8_t kind = in.u8();
      const Bytes name = in.take(in.be16());
      if (in.failed()) return false;
      if (kind != kHostName) continue;
      facts_.server_name.assign(text_of(name));
      break;
    }
    return !outer.failed();
  }
  bool read_alpn(Bytes content) noexcept {
    Cursor outer(content);
    bool is_first = true;
    for (Cursor in(outer.take(outer.be16())); !in.empty() && !facts_.alpn.full();) {
      const Bytes name = in.take(in.u8());
      if (in.failed()) return false;
      if (is_first)
        hello_.first_alpn = name;
      else
        facts_.alpn.append(',');
      facts_.alpn.append(text_of(name));
      is_first = false;
    }
    return !outer.failed();
  }
  bool read_versions(Bytes content) noexcept {
    Cursor outer(content);
    if (type_ == server_hello) {
      const std::uint16_t version = outer.be16();
      if (outer.failed()) return false;
      facts_.tls_version = version_of(version);
      return has_versions_ = true;
    }
    std::uint16_t highest = 0;
    TlsVersion highest_known = TlsVersion::none;
    for (Cursor in(outer.take(outer.u8())); in.left() >= 2;) {
      const std::uint16_t version = in.be16();
      if (is_grease(version)) continue;
      highest = std::max(highest, version);
      highest_known = std::max(highest_known, version_of(version));
    }
    if (outer.failed()) return false;
    if (highest != 0) hello_.version = highest;
    if (highest != 0) facts_.tls_version = highest_known;
    return has_versions_ = true;
  }

  HandshakeType type_;
  ApplicationFacts& facts_;
  ClientHello hello_;
  std::uint64_t seen_ = 0;  // a bit for each extension type below 64
  bool has_versions_ = false;
};

Reading unknown(ApplicationFacts& facts) noexcept {
  facts.clear();
  return Reading::unknown;
}

/// Takes warnings from the stream's front: some servers say that they do not know the name, and go on.
Reading skip_warnings(Bytes& stream) noexcept {
  constexpr int kMostWarnings = 2;
  constexpr std::size_t kVersionMinorAt = 2, kAlertBytes = kRecordHeaderBytes + 2;
  constexpr std::uint8_t kWarning[] = {kAlertRecord, 3, 0, 0, 2, 1};  // up to the level
  for (int i = 0; i < kMostWarnings && !stream.empty() && stream[0] == kAlertRecord; ++i) {
    for (std::size_t at = 1; at < std::min(stream.size(), std::size(kWarning)); ++at)
      if (at != kVersionMinorAt && stream[at] != kWarning[at]) return Reading::unknown;
    if (stream.size() < kAlertBytes) return Reading::needs_more;
    stream = stream.subspan(kAlertBytes);
  }
  return Reading::done;
}

/// Returns what the header of a record is: done if a handshake message may be in it.
Reading check_record(Bytes stream) noexcept {
  constexpr std::uint8_t kMajor = 3, kMostMinor = 4;
  if (!stream.empty() && stream[0] != kHandshakeRecord) return Reading::unknown;
  if (stream.size() > 1 && stream[1] != kMajor) return Reading::unknown;
  if (stream.size() > 2 && stream[2] > kMostMinor) return Reading::unknown;
  if (stream.size() < kRecordHeaderBytes) return Reading::needs_more;
  const std::size_t bytes = static_cast<std::size_t>(stream[3] << 8 | stream[4]);
  return bytes == 0 || bytes > kMostRecordBytes ? Reading::unknown : Reading::done;
}

/// Payload of the record at the stream's front, which check_record() accepted, as far as it is there.
Bytes record_payload(Bytes stream) noexcept {
  const std::size_t bytes = static_cast<std::size_t>(stream[3] << 8 | stream[4]);
  return stream.subspan(kRecordHeaderBytes, std::min(bytes, stream.size() - kRecordHeaderBytes));
}

/// Reads a message that does not end in the first record.
[[gnu::noinline]] Reading read_split_hello(Bytes stream, ApplicationWishes wishes, ApplicationFacts& facts) noexcept {
  std::array<std::uint8_t, kMostHelloBytes> message;
  std::size_t used = 0;
  while (!stream.empty()) {
    const Reading record = check_record(stream);
    if (record == Reading::unknown) return unknown(facts);
    if (record == Reading::needs_more) break;
    const Bytes payload = record_payload(stream);
    const std::size_t copied = std::min(payload.size(), message.size() - used);
    if (copied != 0) std::memcpy(message.data() + used, payload.data(), copied);
    used += copied;
    stream = stream.subspan(kRecordHeaderBytes + payload.size());
    if (used >= kHandshakeHeaderBytes) {
      const std::size_t body = static_cast<std::size_t>(message[1] << 16 | message[2] << 8 | message[3]);
      if (used >= kHandshakeHeaderBytes + body || used == message.size()) break;
    }
  }
  return read_hello({message.data(), used}, false, wishes, facts);
}

}  // namespace

Reading read_hello(Bytes handshake, bool over_quic, ApplicationWishes wishes, ApplicationFacts& facts) noexcept {
  facts.clear();
  if (handshake.empty()) return Reading::needs_more;
  const std::uint8_t type = handshake[0];
  if (type != client_hello && (type != server_hello || over_quic)) return Reading::unknown;
  if (handshake.size() < kHandshakeHeaderBytes) return Reading::needs_more;
  const std::size_t bytes = static_cast<std::size_t>(handshake[1] << 16 | handshake[2] << 8 | handshake[3]);
  if (bytes > kMostHelloBytes - kHandshakeHeaderBytes) return Reading::unknown;
  const Bytes body = handshake.subspan(kHandshakeHeaderBytes);
  const bool is_whole = body.size() >= bytes;
  facts.protocol = over_quic ? ApplicationProtocol::quic : ApplicationProtocol::tls;
  HelloReader reader(static_cast<HandshakeType>(type), facts);
  const bool is_good = reader.read(body.first(std::min(body.size(), bytes)), is_whole);
  if (!is_whole) {
    if (!reader.has_versions()) facts.tls_version = TlsVersion::none;
    return Reading::needs_more;
  }
  if (!is_good && !reader.has_enough()) return unknown(facts);
  if (wishes.ja4 && is_good && type == client_hello) make_ja4(reader.hello(), over_quic, facts.ja4);
  return Reading::done;
}

Reading read_tls(Bytes stream, ApplicationWishes wishes, ApplicationFacts& facts) noexcept {
  facts.clear();
  const std::size_t all_bytes = stream.size();
  if (const Reading warnings = skip_warnings(stream); warnings != Reading::done) return warnings;
  if (const Reading record = check_record(stream); record != Reading::done) return record;
  const Bytes payload = record_payload(stream);
  Reading reading;
  if (payload.size() == stream.size() - kRecordHeaderBytes) {
    reading = read_hello(payload, false, wishes, facts);
  } else {
    const bool has_header = payload.size() >= kHandshakeHeaderBytes;
    const std::size_t body =
        has_header ? static_cast<std::size_t>(payload[1] << 16 | payload[2] << 8 | payload[3]) : kMostHelloBytes;
    reading = body <= payload.size() - std::min(payload.size(), kHandshakeHeaderBytes)
                  ? read_hello(payload, false, wishes, facts)
                  : read_split_hello(stream, wishes, facts);
  }
  if (reading == Reading::needs_more && all_bytes >= kMostHelloBytes) return unknown(facts);
  return reading;
}

}  // namespace parshall
