// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/result.hpp"

namespace parshall {

/// What a run says of where its packets are, and of its records in one output.
struct ExportAccount {
  std::uint64_t counted_in_flows = 0;  ///< packets, of all records
  std::uint64_t packets_offered = 0;   ///< of these, to the output: all, but where it came or went meanwhile
  bool whole_run = true;               ///< it did not
  std::uint64_t records_written = 0, packets_written = 0, records_not_sent = 0, packets_not_sent = 0;
  bool has_packets = true;  ///< the records' columns hold every packet of them
  bool balanced = false;    ///< whether every packet is somewhere
};

/// What a file that was exported has in it, read again.
struct ExportedFile {
  std::string run;  ///< files of one run add up; empty: the file stands for itself
  std::uint64_t records = 0, packets = 0;
  bool has_packets = true;          ///< false: its chosen columns hold not every packet of its records
  bool has_findings_alone = false;  ///< of tasks: none of them is in an account
  std::optional<ExportAccount> account;
  std::string problem;  ///< empty: it is whole, and what it says of itself is so
};

using Bytes = std::span<const std::uint8_t>;

/// Each fails on what is none of its kind.
ExportedFile read_parquet(Bytes file);
ExportedFile read_ipfix(Bytes file);
ExportedFile read_json_lines(Bytes file);

/// By what it begins with. Fails on what cannot be read, and on files that have no account in them.
Result<ExportedFile> read_exported(const std::string& path);

}  // namespace parshall
