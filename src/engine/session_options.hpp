// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "engine/tables.hpp"
#include "engine/worker.hpp"
#include "pipeline/output/outputs.hpp"

namespace parshall {

/// Options of a session.
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
  bool snapshots = true;    ///< reports before the end will be requested
  bool keeps_ended = true;  ///< keep records of ended flows for reports; false: only count them
  /// Destination of records at once, in addition to reports or instead of them, and of findings instead of
  /// take_events() and take_recalls(). The collector's thread uses it; null: none. Records given back are kept for the
  /// next report.
  Outputs* outputs = nullptr;
  bool commits_first = false;  ///< commit memory before the first packet; for a source that cannot wait
  std::uint64_t ended_bytes = ~std::uint64_t{0};  ///< limit for records until a report takes them
  const TableEntry* table = nullptr;              ///< null: packet level, no flows
  std::size_t classifiers = 0;  ///< classifier threads, if class_helpers_maker() exists; 0: the workers classify
  std::shared_ptr<Labeller> labeller = {};  ///< null if flows get no labels
  FlowStageOptions stage;                   ///< `flows` is per worker; make_stages() sets `statistics` and memory

  bool follows_tcp() const noexcept;
  bool reads_headers() const noexcept {
    return follows_tcp() || stage.side_facts || stage.packet_names || stage.biflow;
  }
};

}  // namespace parshall
