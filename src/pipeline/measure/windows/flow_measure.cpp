// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/windows/flow_measure.hpp"

namespace parshall {

std::size_t MeasureSet::add(std::shared_ptr<const FlowMeasure> measure) {
  for (const Placed& placed : measures_)
    if (placed.measure->name() == measure->name()) return placed.offset;
  const std::size_t bytes = measure->row_bytes();
  const bool behind = measure->is_rare() || first_line_ + bytes > kLine;
  const std::size_t offset = behind ? kLine + behind_ : first_line_;
  (behind ? behind_ : first_line_) += bytes;
  const MeasuredPackets packets = measure->packets();
  measures_.push_back({std::move(measure), offset, packets});
  return offset;
}

FindingNeeds MeasureSet::needs() const noexcept {
  FindingNeeds needs;
  for (const Placed& placed : measures_) needs.add(placed.measure->needs());
  return needs;
}

}  // namespace parshall
