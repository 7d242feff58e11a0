// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "pipeline/decode/application/facts.hpp"
#include "pipeline/decode/application/first_bytes.hpp"

namespace parshall {

/// Versions whose Initial packets are read.
inline constexpr std::uint32_t kQuicVersion1 = 1, kQuicVersion2 = 0x6b3343cf;

/// Keys that protect the Initial packets of a client. Who sees the packets can derive them.
struct QuicKeys {
  std::array<std::uint8_t, 16> key;
  std::array<std::uint8_t, 12> iv;
  std::array<std::uint8_t, 16> header_key;
  std::uint32_t version = 0;
};

/// State of one direction of a UDP flow while its ClientHello is incomplete.
///
/// Shape: 16.6 KB; clear() writes a few bytes of it.
struct QuicFlow {
  FirstBytes crypto;
  QuicKeys keys;
  std::array<std::uint8_t, 20> connection_id;  ///< that the keys are made of
  std::uint8_t connection_id_bytes = 0;
  bool has_keys = false;

  QuicFlow() noexcept {}  // NOLINT(modernize-use-equals-default): see FirstBytes

  void clear() noexcept {
    crypto.clear();
    has_keys = false;
  }
};

/// Reads the ClientHello from a client's Initial packets. One per worker: it owns the cipher contexts, which are made
/// once, so that reading allocates nothing.
///
/// Source: RFC 9000, RFC 9001, RFC 9369.
class QuicReader {
 public:
  /// A client fills its datagrams with Initial packets up to this size (RFC 9000, 14.1).
  static constexpr std::size_t kLeastBytes = 1200;
  static constexpr std::size_t kMostPacketBytes = 4096;  ///< longer Initial packets are unknown
  static constexpr int kMostPackets = 4;                 ///< in one datagram; those behind are left alone

  QuicReader() noexcept;
  ~QuicReader();
  QuicReader(const QuicReader&) = delete;
  QuicReader& operator=(const QuicReader&) = delete;

  /// Returns whether the datagram may begin with an Initial packet of a known version. Takes a nanosecond or two.
  static bool may_be_initial(std::span<const std::uint8_t> datagram) noexcept {
    if (datagram.size() < kLeastBytes) return false;
    const std::uint8_t* const at = datagram.data();
    const std::uint32_t version =
        std::uint32_t{at[1]} << 24 | std::uint32_t{at[2]} << 16 | std::uint32_t{at[3]} << 8 | at[4];
    return is_initial(at[0], version) && at[5] <= kMostIdBytes;
  }

  /// Reads a datagram of the flow. It is unknown if it has no Initial packet that decrypts, as one of a server;
  /// needs_more says that the ClientHello continues in another datagram.
  ///
  /// Cost: 2.5 us for the first Initial packet of a flow, whether it decrypts or not; 1.3 to 2 us for the next ones,
  ///       whose keys are there. See may_be_initial() for datagrams of other protocols.
  Reading read(std::span<const std::uint8_t> datagram, QuicFlow& flow, ApplicationWishes wishes,
               ApplicationFacts& facts) noexcept;

 private:
  static constexpr std::uint8_t kMostIdBytes = 20;

  /// Returns whether a packet has a long header, the fixed bit and type Initial. The type is protected in no version.
  static constexpr bool is_initial(std::uint8_t first, std::uint32_t version) noexcept {
    return (version == kQuicVersion1 && (first & 0xf0) == 0xc0) || (version == kQuicVersion2 && (first & 0xf0) == 0xd0);
  }

  struct Ciphers;
  std::unique_ptr<Ciphers> ciphers_;  // null if crypto_problem()
};

}  // namespace parshall
