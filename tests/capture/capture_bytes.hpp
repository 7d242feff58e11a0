// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/capture/byte_order.hpp"

namespace parshall::testing {

using Bytes = std::vector<std::uint8_t>;

enum class Order : std::uint8_t { little, big };

inline Bytes& operator+=(Bytes& to, const Bytes& more) {
  to.insert(to.end(), more.begin(), more.end());
  return to;
}

/// Appends integers in one byte order.
class Writer {
 public:
  explicit Writer(Order order) : swapped_((order == Order::little) != (std::endian::native == std::endian::little)) {}

  template <std::unsigned_integral T>
  Writer& put(T value) {
    if (swapped_) value = byte_swapped(value);
    const auto* from = reinterpret_cast<const std::uint8_t*>(&value);
    bytes.insert(bytes.end(), from, from + sizeof value);
    return *this;
  }
  Writer& put(const Bytes& more) {
    bytes += more;
    return *this;
  }

  Bytes bytes;

 private:
  bool swapped_;
};

/// `size` bytes that differ from those of another `seed`.
inline Bytes payload(std::size_t size, unsigned seed = 0) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(seed * 31 + i * 7);
  return bytes;
}

struct PcapFile {
  Order order = Order::little;
  std::uint32_t magic = 0xa1b2c3d4;
  std::uint16_t major = 2, minor = 4;
  std::uint32_t network = 1;

  Bytes header() const {
    return Writer(order).put(magic).put(major).put(minor).put(0u).put(0u).put(65535u).put(network).bytes;
  }
  Bytes record(std::uint32_t seconds, std::uint32_t fraction, const Bytes& captured, std::uint32_t wire_bytes) const {
    const auto captured_bytes = static_cast<std::uint32_t>(captured.size());
    return Writer(order).put(seconds).put(fraction).put(captured_bytes).put(wire_bytes).put(captured).bytes;
  }
  Bytes record(std::uint32_t seconds, const Bytes& captured) const {
    return record(seconds, 0, captured, static_cast<std::uint32_t>(captured.size()));
  }
};

/// Records of ERF, as a card writes them.
struct ErfFile {
  static Bytes record(std::uint8_t type, std::uint64_t stamp, const Bytes& behind_header, std::uint16_t wire_bytes,
                      std::uint16_t lost = 0) {
    Bytes bytes = Writer(Order::little).put(stamp).bytes;
    const auto record_bytes = static_cast<std::uint16_t>(16 + behind_header.size());
    bytes += Writer(Order::big).put(type).put(std::uint8_t{4}).put(record_bytes).put(lost).put(wire_bytes).bytes;
    return bytes += behind_header;
  }
  /// Of an Ethernet frame, filled up to 8 bytes.
  static Bytes ethernet(std::uint32_t seconds, const Bytes& frame, std::uint8_t type = 2, std::uint16_t lost = 0) {
    Bytes behind{0, 0};
    behind += frame;
    behind.resize((behind.size() + 7) / 8 * 8);
    return record(type, std::uint64_t{seconds} << 32, behind, static_cast<std::uint16_t>(frame.size()), lost);
  }
};

struct PcapngFile {
  Order order = Order::little;

  static Bytes padded(Bytes bytes) {
    bytes.resize((bytes.size() + 3) / 4 * 4);
    return bytes;
  }
  Bytes block(std::uint32_t type, const Bytes& body) const {
    const auto length = static_cast<std::uint32_t>(padded(body).size() + 12);
    return Writer(order).put(type).put(length).put(padded(body)).put(length).bytes;
  }
  Bytes section(std::uint16_t major = 1, std::uint16_t minor = 0) const {
    const Bytes body = Writer(order).put(0x1a2b3c4du).put(major).put(minor).put(~std::uint64_t{0}).bytes;
    return block(0x0a0d0d0a, body);
  }
  Bytes interface(std::uint16_t link_type, std::uint32_t snap_bytes = 0, const Bytes& options = {}) const {
    return block(1, Writer(order).put(link_type).put(std::uint16_t{0}).put(snap_bytes).put(options).bytes);
  }
  Bytes resolution(std::uint8_t value) const {
    return Writer(order).put(std::uint16_t{9}).put(std::uint16_t{1}).put(Bytes{value, 0, 0, 0}).bytes;
  }
  Bytes offset(std::int64_t seconds) const {
    return Writer(order).put(std::uint16_t{14}).put(std::uint16_t{8}).put(std::bit_cast<std::uint64_t>(seconds)).bytes;
  }
  Bytes packet(std::uint32_t interface, std::uint64_t stamp, const Bytes& captured, std::uint32_t wire_bytes) const {
    return block(6, Writer(order)
                        .put(interface)
                        .put(static_cast<std::uint32_t>(stamp >> 32))
                        .put(static_cast<std::uint32_t>(stamp))
                        .put(static_cast<std::uint32_t>(captured.size()))
                        .put(wire_bytes)
                        .put(captured)
                        .bytes);
  }
  Bytes packet(std::uint64_t stamp, const Bytes& captured) const {
    return packet(0, stamp, captured, static_cast<std::uint32_t>(captured.size()));
  }
  /// Of 64 bits, as counts are.
  Bytes option(std::uint16_t code, std::uint64_t value) const {
    return Writer(order).put(code).put(std::uint16_t{8}).put(value).bytes;
  }
  Bytes packet_with(const Bytes& options, const Bytes& captured = payload(8), std::uint32_t interface = 0) const {
    const auto bytes = static_cast<std::uint32_t>(captured.size());
    return block(
        6, Writer(order).put(interface).put(0u).put(0u).put(bytes).put(bytes).put(padded(captured)).put(options).bytes);
  }
  Bytes statistics(const Bytes& options, std::uint32_t interface = 0) const {
    return block(5, Writer(order).put(interface).put(std::uint64_t{0}).put(options).bytes);
  }
  Bytes obsolete_packet(std::uint16_t interface, std::uint64_t stamp, const Bytes& captured,
                        std::uint16_t drops = 0) const {
    return block(2, Writer(order)
                        .put(interface)
                        .put(drops)
                        .put(static_cast<std::uint32_t>(stamp >> 32))
                        .put(static_cast<std::uint32_t>(stamp))
                        .put(static_cast<std::uint32_t>(captured.size()))
                        .put(static_cast<std::uint32_t>(captured.size()))
                        .put(captured)
                        .bytes);
  }
  Bytes simple_packet(std::uint32_t wire_bytes, const Bytes& captured) const {
    return block(3, Writer(order).put(wire_bytes).put(captured).bytes);
  }
};

}  // namespace parshall::testing
