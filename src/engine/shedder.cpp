// SPDX-License-Identifier: Apache-2.0
#include "engine/shedder.hpp"

#include <algorithm>

namespace parshall {

Shedder::Shedder(const FlowStageOptions& options, MeasureStage& measure_stage, PacketClock& clock)
    : sample_(options.control ? std::make_unique<FlowSample>(options.seed) : nullptr),
      measure_stage_(measure_stage),
      clock_(clock) {}

void Shedder::end(Run& run) noexcept {
  if (run.packets.packets == 0) return;
  shed_.add(run.packets);
  clock_.latest_ns = run.packets.last_ns;
  if (measure_stage_.has_windows()) measure_stage_.add_shed(run.packets, run.last);
  run.packets = {};
}

bool Shedder::look_at_one_in(std::uint32_t connections) noexcept {
  if (connections == sample_->one_in()) return false;
  if (connections < sample_->one_in()) measure_stage_.sample_grew(*sample_, most_one_in_);
  most_one_in_ = connections == 1 ? 1 : std::max(most_one_in_, connections);
  sample_->set_one_in(connections);
  measure_stage_.sample_changed();
  sheds_ = connections != 1;
  return true;
}

}  // namespace parshall
