// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "compare/cuts.hpp"
#include "compare/tap.hpp"
#include "pipeline/decode/facts.hpp"

namespace parshall {

/// One direction of a connection, as the sum of all its records at one tap.
struct RecordedFlow {
  FlowKey key;
  std::uint64_t packets = 0;
  std::uint64_t first_ns = std::numeric_limits<std::uint64_t>::max(), last_ns = 0;
  std::vector<Cut> cuts;
  std::string run;  ///< of its last record
  bool has_several_runs = false;
  PacketSums ended, current;  ///< of flows that ended, and of the one that the last record is part of
  bool lacks_sums = false;    ///< a record had none, or one is missing

  /// Returns the sums and cuts of all of its packets, if they are known.
  std::optional<TapSums> sums() const;
};

/// Everything that one tap exported.
struct RecordSet {
  TapCounts tap;                                ///< `packets` and `compared` are those of the records
  std::uint64_t records = 0;                    ///< in the files
  std::map<std::uint64_t, RecordedFlow> flows;  ///< by flow_key
  struct Run {
    std::uint64_t first_ns = std::numeric_limits<std::uint64_t>::max(), last_ns = 0;
  };
  std::map<std::string, Run> runs;              ///< when the tap watched, by the name of a run
  std::map<std::string, std::string> settings;  ///< that flow_key depends on, by option; empty: no run has ended
  std::string lacks;                            ///< why records may be missing; empty: all are there
};

/// Reads the Parquet files of a folder that `watch --export parquet:FOLDER` wrote with the column flow_key.
///
/// Errors: it has none, or other contents; its runs had different settings; its records are biflows.
Result<RecordSet> read_records(const std::string& path);

}  // namespace parshall
