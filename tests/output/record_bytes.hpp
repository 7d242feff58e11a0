// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "pipeline/output/records/ended_record.hpp"

namespace parshall {

/// A record of so many packets as it comes to an output: without a row.
inline std::vector<std::byte> record_bytes(std::uint64_t packets) {
  RecordHeader header;
  header.record.key.ip_version = 4;
  header.record.packets = packets;
  std::vector<std::byte> bytes(sizeof header);
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

}  // namespace parshall
