// SPDX-License-Identifier: Apache-2.0
#include "engine/ended_flows.hpp"

#include <sched.h>

#include <cstring>

#include "pipeline/output/records/ended_record.hpp"

namespace parshall {

void EndedFlows::add(const TalliedFlow& flow, std::uint64_t snapshot, std::uint64_t generation) noexcept {
  counts_.count_ended(flow);
  std::byte* to;
  while ((to = ring_.reserve(sizeof(RecordHeader) + flow.row.size())) == nullptr) ::sched_yield();
  write_header(to, snapshot, generation, flow.record);
  if (!flow.row.empty()) std::memcpy(to + sizeof(RecordHeader), flow.row.data(), flow.row.size());
  ring_.publish();
}

}  // namespace parshall
