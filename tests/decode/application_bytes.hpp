// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "frames.hpp"
#include "pipeline/decode/application/facts.hpp"

namespace parshall {

inline bool operator==(const ApplicationFacts& a, const ApplicationFacts& b) {
  return a.protocol == b.protocol && a.tls_version == b.tls_version && a.has_dns_rcode == b.has_dns_rcode &&
         a.dns_rcode == b.dns_rcode && a.server_name == b.server_name && a.http_host == b.http_host &&
         a.http_user_agent == b.http_user_agent && a.dns_name == b.dns_name && a.alpn == b.alpn && a.ja4 == b.ja4;
}

}  // namespace parshall

namespace parshall::testing {

/// Bytes in memory of exactly their size, so that the address sanitizer sees any read beyond them.
class ExactBytes {
 public:
  ExactBytes(const Bytes& bytes, std::size_t size) : bytes_(std::make_unique<std::uint8_t[]>(size)), size_(size) {
    std::copy_n(bytes.begin(), size, bytes_.get());
  }
  explicit ExactBytes(const Bytes& bytes) : ExactBytes(bytes, bytes.size()) {}
  std::span<const std::uint8_t> span() const { return {bytes_.get(), size_}; }

 private:
  std::unique_ptr<std::uint8_t[]> bytes_;
  std::size_t size_;
};

inline Bytes text_bytes(std::string_view text) { return {text.begin(), text.end()}; }

inline Bytes hex_bytes(std::string_view hex) {
  Bytes bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<std::uint8_t>(std::stoul(std::string(hex.substr(i, 2)), nullptr, 16)));
  return bytes;
}

/// `bytes` with their length in one, two or three bytes before them.
inline Bytes with_length8(const Bytes& bytes) { return join({{static_cast<std::uint8_t>(bytes.size())}, bytes}); }
inline Bytes with_length16(const Bytes& bytes) { return join({be16(static_cast<unsigned>(bytes.size())), bytes}); }
inline Bytes with_length24(const Bytes& bytes) {
  return join({{static_cast<std::uint8_t>(bytes.size() >> 16)}, be16(bytes.size() & 0xffff), bytes});
}

inline Bytes numbers16(const std::vector<unsigned>& numbers) {
  Bytes bytes;
  for (const unsigned number : numbers) bytes = join({bytes, be16(number)});
  return bytes;
}

inline Bytes extension(unsigned type, const Bytes& content) { return join({be16(type), with_length16(content)}); }
inline Bytes server_name_extension(std::string_view name) {
  return extension(0, with_length16(join({{0}, with_length16(text_bytes(name))})));
}
inline Bytes alpn_extension(const std::vector<Bytes>& names) {
  Bytes list;
  for (const Bytes& name : names) list = join({list, with_length8(name)});
  return extension(16, with_length16(list));
}
inline Bytes versions_extension(const std::vector<unsigned>& versions) {
  return extension(43, with_length8(numbers16(versions)));
}
inline Bytes algorithms_extension(const std::vector<unsigned>& algorithms) {
  return extension(13, with_length16(numbers16(algorithms)));
}

struct HelloParts {
  unsigned version = 0x0303;
  std::vector<unsigned> ciphers = {0x1301, 0x1302};
  std::vector<Bytes> extensions = {};
};
/// A ClientHello with its handshake header.
inline Bytes client_hello_bytes(const HelloParts& parts) {
  Bytes extensions;
  for (const Bytes& each : parts.extensions) extensions = join({extensions, each});
  return join({{1},
               with_length24(join({be16(parts.version),
                                   Bytes(32, 0x5a),
                                   with_length8(Bytes(32, 7)),
                                   with_length16(numbers16(parts.ciphers)),
                                   {1, 0},
                                   with_length16(extensions)}))});
}

/// A record of handshake messages.
inline Bytes tls_record(const Bytes& payload) { return join({{22, 3, 1}, with_length16(payload)}); }

/// Calls `check` with `bytes` changed at a few random places, and cut at one, many times over.
template <class Check>
void for_mutations(const Bytes& bytes, int times, Check check) {
  std::mt19937 random(7);
  for (int i = 0; i < times; ++i) {
    Bytes changed = bytes;
    for (unsigned changes = random() % 4; changes != 0; --changes)
      changed[random() % changed.size()] = static_cast<std::uint8_t>(random() % 3 == 0 ? 255 : random());
    const ExactBytes exact(changed, random() % 3 == 0 ? random() % (changed.size() + 1) : changed.size());
    check(exact.span());
  }
}

}  // namespace parshall::testing
