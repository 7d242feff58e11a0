// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>

#include "engine/tables.hpp"
#include "engine/worker.hpp"
#include "pipeline/output/outputs.hpp"

namespace parshall {

/// What a session does with what comes.
struct SessionOptions {
  ThreadOptions threads;
  std::size_t workers = 1;
  std::size_t batch = 256;
  ReadLimits limits;
  IpHeader header = IpHeader::outermost;
  KeyFields key = KeyFields::five_tuple;
  Identity identity = Identity::exact;
  const HashFunction* hash = nullptr;  ///< null: the keyed hash
  std::uint64_t seed = 0;
  std::optional<BpfFilter> filter;
  bool snapshots = true;    ///< reports before the end will be asked for
  bool keeps_ended = true;  ///< records of ended flows, for reports; else they are counted, and gone
  /// Where they go at once, too, or in place of that, if it has the report, and where findings go in place of
  /// take_events() and take_recalls(): by the collector's thread. Null: nowhere. What is given back is kept for the
  /// next report.
  Outputs* outputs = nullptr;
  bool commits_first = false;  ///< of a source that cannot wait: before the first packet, however long it takes
  std::uint64_t ended_bytes = ~std::uint64_t{0};  ///< that these may take until a report asks for them
  const TableEntry* table = nullptr;              ///< null: packet level, no flows
  std::size_t classifiers = 0;  ///< threads that tell classes, where class_helpers_maker() is; 0: the workers do
  FlowStageOptions monitor;     ///< `flows` is per worker; `statistics` and memory are set by make_monitors()

  bool finds_anything() const noexcept;  ///< whether tasks want more of a flow than its counters
  bool follows_tcp() const noexcept;
  bool reads_headers() const noexcept { return follows_tcp() || monitor.side_facts || monitor.biflow; }
};

}  // namespace parshall
