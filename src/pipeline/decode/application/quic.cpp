// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/application/quic.hpp"

#include <algorithm>
#include <new>
#include <string_view>

#include "pipeline/decode/application/cursor.hpp"
#include "pipeline/decode/application/libcrypto.hpp"
#include "pipeline/decode/application/libcrypto_functions.hpp"
#include "pipeline/decode/application/quic_frames.hpp"
#include "pipeline/decode/application/sha256.hpp"
#include "pipeline/decode/application/tls.hpp"

namespace parshall {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::size_t kTagBytes = 16, kSampleBytes = 16, kMostNumberBytes = 4;
constexpr std::size_t kLeastFirstIdBytes = 8;  // of the ID that a client invents (RFC 9000, 7.2)

/// Constants from which a version derives its keys (RFC 9001, 5.2; RFC 9369, 3.3).
struct VersionLabels {
  std::array<std::uint8_t, 20> salt;
  std::string_view key, iv, header_key;
};
constexpr VersionLabels kLabels1 = {{0x38, 0x76, 0x2c, 0xf7, 0xf5, 0x59, 0x34, 0xb3, 0x4d, 0x17,
                                     0x9a, 0xe6, 0xa4, 0xc8, 0x0c, 0xad, 0xcc, 0xbb, 0x7f, 0x0a},
                                    "tls13 quic key",
                                    "tls13 quic iv",
                                    "tls13 quic hp"};
constexpr VersionLabels kLabels2 = {{0x0d, 0xed, 0xe3, 0xde, 0xf7, 0x00, 0xa6, 0xdb, 0x81, 0x93,
                                     0x81, 0xbe, 0x6e, 0x26, 0x9d, 0xcb, 0xf9, 0xbd, 0x2e, 0xd9},
                                    "tls13 quicv2 key",
                                    "tls13 quicv2 iv",
                                    "tls13 quicv2 hp"};

/// HKDF-Expand-Label (RFC 8446, 7.1) without a context, for at most one digest of output.
template <std::size_t kBytes>
std::array<std::uint8_t, kBytes> expand(Bytes secret, std::string_view label) noexcept {
  static_assert(kBytes <= kSha256Bytes);
  std::array<std::uint8_t, 32> info{};
  std::size_t used = 1;  // the length's high byte
  info[used++] = kBytes;
  info[used++] = static_cast<std::uint8_t>(label.size());
  for (const char character : label) info[used++] = static_cast<std::uint8_t>(character);
  info[used++] = 0;  // length of the context
  info[used++] = 1;  // number of HKDF's block
  const Sha256Digest block = hmac_sha256(secret, {info.data(), used});
  std::array<std::uint8_t, kBytes> output;
  std::copy_n(block.begin(), kBytes, output.begin());
  return output;
}

QuicKeys derive_keys(std::uint32_t version, Bytes connection_id) noexcept {
  const VersionLabels& labels = version == kQuicVersion2 ? kLabels2 : kLabels1;
  const Sha256Digest initial_secret = hmac_sha256(labels.salt, connection_id);
  const auto secret = expand<32>(initial_secret, "tls13 client in");
  QuicKeys keys;
  keys.key = expand<16>(secret, labels.key);
  keys.iv = expand<12>(secret, labels.iv);
  keys.header_key = expand<16>(secret, labels.header_key);
  keys.version = version;
  return keys;
}

/// One packet with a long header.
struct LongPacket {
  Bytes bytes;  ///< from its first byte to its end
  Bytes connection_id;
  std::size_t number_at = 0;  ///< position of the packet number
  std::uint32_t version = 0;
};

/// Takes the packet from the front of `datagram`, which may have more of them behind it. Returns false, with `packet`
/// unspecified, if it has no length, as a Retry, or its length is more than there is.
bool take_packet(Bytes& datagram, bool is_initial, LongPacket& packet) noexcept {
  Cursor in(datagram);
  in.u8();
  packet.version = in.be32();
  packet.connection_id = in.take(in.u8());
  const std::uint8_t source_id_bytes = in.u8();
  in.take(source_id_bytes);
  if (is_initial) in.take(in.varint());  // token
  const std::uint64_t bytes = in.varint();
  packet.number_at = datagram.size() - in.left();
  in.take(bytes);
  constexpr std::size_t kMostIdBytes = 20;
  if (in.failed() || packet.connection_id.size() > kMostIdBytes || source_id_bytes > kMostIdBytes) return false;
  packet.bytes = datagram.first(packet.number_at + static_cast<std::size_t>(bytes));
  datagram = datagram.subspan(packet.bytes.size());
  return true;
}

/// Returns whether the packet behind another in the datagram is of the same version and has a length.
bool has_length(Bytes datagram, std::uint32_t version) noexcept {
  if (datagram.size() < 5 || (datagram[0] & 0xc0) != 0xc0) return false;
  const std::uint32_t own = std::uint32_t{datagram[1]} << 24 | std::uint32_t{datagram[2]} << 16 |
                            std::uint32_t{datagram[3]} << 8 | datagram[4];
  const std::uint8_t retry = version == kQuicVersion2 ? 0x00 : 0x30;
  return own == version && (datagram[0] & 0x30) != retry;
}

struct FreeCipher {
  void operator()(EVP_CIPHER* cipher) const noexcept { libcrypto().cipher_free(cipher); }
  void operator()(EVP_CIPHER_CTX* context) const noexcept { libcrypto().ctx_free(context); }
};

}  // namespace

struct QuicReader::Ciphers {
  std::unique_ptr<EVP_CIPHER, FreeCipher> ecb{libcrypto().cipher_fetch(nullptr, "AES-128-ECB", nullptr)};
  std::unique_ptr<EVP_CIPHER, FreeCipher> gcm{libcrypto().cipher_fetch(nullptr, "AES-128-GCM", nullptr)};
  std::unique_ptr<EVP_CIPHER_CTX, FreeCipher> header{libcrypto().ctx_new()}, payload{libcrypto().ctx_new()};
  std::array<std::uint8_t, kMostPacketBytes> plain;

  /// Gives the contexts their ciphers. Later calls leave the cipher out, so that OpenSSL keeps the context's memory.
  bool start() noexcept {
    return ecb != nullptr && gcm != nullptr && header != nullptr && payload != nullptr &&
           libcrypto().encrypt_init(header.get(), ecb.get(), nullptr, nullptr, nullptr) == 1 &&
           libcrypto().decrypt_init(payload.get(), gcm.get(), nullptr, nullptr, nullptr) == 1;
  }

  /// Returns the payload; nothing if the packet was not protected by these keys, or not at all.
  Bytes decrypt(const LongPacket& packet, const QuicKeys& keys) noexcept {
    const std::size_t at = packet.number_at;
    if (packet.bytes.size() > kMostPacketBytes || packet.bytes.size() < at + kMostNumberBytes + kSampleBytes) return {};
    std::array<std::uint8_t, kSampleBytes> mask;
    int written = 0;
    if (libcrypto().encrypt_init(header.get(), nullptr, keys.header_key.data(), nullptr, nullptr) != 1 ||
        libcrypto().encrypt_update(header.get(), mask.data(), &written, packet.bytes.data() + at + kMostNumberBytes,
                                   kSampleBytes) != 1)
      return {};
    const auto first = static_cast<std::uint8_t>(packet.bytes[0] ^ (mask[0] & 0x0f));
    const std::size_t number_bytes = (first & 3) + std::size_t{1}, payload_at = at + number_bytes;

    // The header as it was before it was protected, and the packet number as the end of the nonce.
    std::array<std::uint8_t, kMostNumberBytes> number;
    std::array<std::uint8_t, 12> nonce = keys.iv;
    for (std::size_t i = 0; i < number_bytes; ++i) {
      number[i] = packet.bytes[at + i] ^ mask[1 + i];
      nonce[nonce.size() - number_bytes + i] ^= number[i];
    }
    const std::size_t bytes = packet.bytes.size() - payload_at - kTagBytes;
    std::array<std::uint8_t, kTagBytes> tag;
    std::copy_n(packet.bytes.end() - kTagBytes, kTagBytes, tag.begin());
    EVP_CIPHER_CTX* const gcm_context = payload.get();
    const auto add_header = [&](const std::uint8_t* from, std::size_t count) {
      return libcrypto().decrypt_update(gcm_context, nullptr, &written, from, static_cast<int>(count)) == 1;
    };
    const bool is_good = libcrypto().decrypt_init(gcm_context, nullptr, keys.key.data(), nonce.data(), nullptr) == 1 &&
                         add_header(&first, 1) && add_header(packet.bytes.data() + 1, at - 1) &&
                         add_header(number.data(), number_bytes) &&
                         libcrypto().decrypt_update(gcm_context, plain.data(), &written,
                                                    packet.bytes.data() + payload_at, static_cast<int>(bytes)) == 1 &&
                         libcrypto().ctx_ctrl(gcm_context, EVP_CTRL_AEAD_SET_TAG, kTagBytes, tag.data()) == 1 &&
                         libcrypto().decrypt_final(gcm_context, plain.data() + bytes, &written) == 1;
    return is_good ? Bytes(plain.data(), bytes) : Bytes();
  }

  /// Decrypts with the flow's keys, else with those of the packet's own connection ID, which the flow then gets: it
  /// changes after a Retry. Keys of another version are made of the flow's ID too (RFC 9369, 4.1).
  Bytes decrypt(const LongPacket& packet, QuicFlow& flow) noexcept {
    const Bytes flow_id(flow.connection_id.data(), flow.connection_id_bytes);
    if (flow.has_keys) {
      const bool same_version = flow.keys.version == packet.version;
      const QuicKeys keys = same_version ? flow.keys : derive_keys(packet.version, flow_id);
      if (const Bytes plaintext = decrypt(packet, keys); !plaintext.empty()) {
        flow.keys = keys;
        return plaintext;
      }
      if (std::ranges::equal(flow_id, packet.connection_id)) return {};
    } else if (packet.connection_id.size() < kLeastFirstIdBytes) {
      return {};
    }
    const QuicKeys keys = derive_keys(packet.version, packet.connection_id);
    const Bytes plaintext = decrypt(packet, keys);
    if (plaintext.empty()) return {};
    flow.keys = keys;
    std::ranges::copy(packet.connection_id, flow.connection_id.begin());
    flow.connection_id_bytes = static_cast<std::uint8_t>(packet.connection_id.size());
    flow.has_keys = true;
    return plaintext;
  }
};

QuicReader::QuicReader() noexcept : ciphers_(crypto_problem() ? nullptr : new (std::nothrow) Ciphers) {
  if (ciphers_ != nullptr && !ciphers_->start()) ciphers_ = nullptr;
}
QuicReader::~QuicReader() = default;

Reading QuicReader::read(std::span<const std::uint8_t> datagram, QuicFlow& flow, ApplicationWishes wishes,
                         ApplicationFacts& facts) noexcept {
  facts.clear();
  if (!may_be_initial(datagram) || ciphers_ == nullptr) return Reading::unknown;
  bool was_decrypted = false;
  LongPacket packet;
  Bytes first_id;
  for (int packets = 0; packets < kMostPackets; ++packets) {
    if (packets != 0 && !has_length(datagram, packet.version)) break;
    const bool has_token = packets == 0 || is_initial(datagram[0], packet.version);
    if (!take_packet(datagram, has_token, packet)) break;
    if (packets == 0) first_id = packet.connection_id;
    if (!std::ranges::equal(packet.connection_id, first_id)) break;  // not of this connection (RFC 9000, 12.2)
    if (!has_token) continue;                                        // 0-RTT or Handshake
    const Bytes plaintext = ciphers_->decrypt(packet, flow);
    if (plaintext.empty()) break;
    was_decrypted = true;
    read_initial_frames(plaintext, flow.crypto);
  }
  if (!was_decrypted) return Reading::unknown;
  const Reading reading = read_hello(flow.crypto.prefix(), true, wishes, facts);
  if (reading == Reading::needs_more) facts.protocol = ApplicationProtocol::quic;
  return reading;
}

}  // namespace parshall
