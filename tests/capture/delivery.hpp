// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "capture_bytes.hpp"
#include "pipeline/capture/source.hpp"

namespace parshall::testing {

struct Delivered {
  std::uint64_t time_ns = 0;
  std::uint32_t wire_bytes = 0;
  LinkType link_type{};
  Bytes captured;

  bool operator==(const Delivered&) const = default;
};

inline void PrintTo(const Delivered& packet, std::ostream* out) {
  *out << packet.captured.size() << " of " << packet.wire_bytes << " bytes at " << packet.time_ns << " ns, link type "
       << static_cast<int>(packet.link_type);
}

/// All that came out of a capture. `damage` is what the source, or the opening, said of it; empty when all is well.
struct Delivery {
  std::vector<Delivered> packets;
  std::string damage;
  std::optional<std::uint64_t> lost = std::nullopt;  ///< before the capture was written, by what it says

  bool operator==(const Delivery&) const = default;
};

/// Reads a source to its end.
Delivery drain(PacketSource& source);

/// A descriptor of a regular file with these bytes.
int file_of(const Bytes& bytes);

Delivery read_as_file(const Bytes& bytes);

/// Through a pipe, into which a thread writes the bytes in pieces.
Delivery read_as_stream(const Bytes& bytes, std::size_t piece_bytes);

/// Reads `bytes` as a file and as a stream in several ways, expects the same of each, and returns it.
Delivery read_every_way(const Bytes& bytes);

}  // namespace parshall::testing
