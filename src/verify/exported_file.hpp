// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/byte_reader.hpp"
#include "base/result.hpp"

namespace parshall {

/// A run's own account of its packets, and of its records in one output.
struct ExportAccount {
  std::uint64_t counted_in_flows = 0;  ///< packets of all records
  std::uint64_t packets_offered = 0;   ///< part offered to the output; all, if it existed the whole run
  bool whole_run = true;               ///< false if the output was added or removed during the run
  std::uint64_t records_written = 0, packets_written = 0, records_not_sent = 0, packets_not_sent = 0;
  bool has_packets = true;  ///< true if the records' columns hold all their packets
  bool balanced = false;    ///< true if every packet is accounted for
};

/// Contents of an exported file.
struct ExportedFile {
  std::string run;  ///< files of the same run are added up; empty: the file stands for itself
  std::uint64_t records = 0, packets = 0;
  bool has_packets = true;          ///< false if the chosen columns lack packets of its records
  bool has_findings_alone = false;  ///< true if it has only findings of tasks, which no account contains
  std::optional<ExportAccount> account;
  std::string problem;  ///< empty: it is complete, and its own account is right
};

/// Read a file. Each fails on a file of another kind.
ExportedFile read_parquet(Bytes file);
ExportedFile read_ipfix(Bytes file);
ExportedFile read_json_lines(Bytes file);

/// Reads a whole file. It is not mapped, since truncating the file in the meantime must not end the program.
Result<std::vector<std::uint8_t>> read_whole(const std::string& path);

/// Reads a file of the kind that its beginning shows. Fails on unreadable files, and on kinds without an account.
Result<ExportedFile> read_exported(const std::string& path);

}  // namespace parshall
