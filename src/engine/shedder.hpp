// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>

#include "engine/measure_stage.hpp"
#include "pipeline/flow/flow_sample.hpp"
#include "pipeline/flow/kept_out.hpp"

namespace parshall {

/// Latest packet times of a worker's flow stage, in order of arrival.
struct PacketClock {
  std::uint64_t latest_ns = 0;   ///< latest of any packet
  std::uint64_t counted_ns = 0;  ///< latest of an inspected packet
};

/// Chooses the flows that a worker inspects under overload. The packets of all others are counted, and reported to the
/// windows in runs.
class Shedder {
 public:
  /// Packets between which no window ends.
  struct Run {
    KeptOut packets;
    LinkPlace last;
  };

  Shedder(const FlowStageOptions& options, MeasureStage& measure_stage, PacketClock& clock);

  /// Returns null if packets of all flows are always inspected.
  const FlowSample* sample() const noexcept { return sample_.get(); }

  /// Returns true if the sample leaves any flow out. Only then:
  bool sheds() const noexcept { return sheds_; }
  bool takes(const FlowKey& flow) const noexcept { return sample_->takes(flow); }

  /// Sheds a packet of a flow outside the sample. Packets in flight precede it, so `drain` is called if a window ends
  /// there. The last run must be ended by the caller.
  template <class Drain>
  [[gnu::always_inline]] void shed(const PacketFacts& facts, LinkPlace place, Run& run, Drain drain) noexcept {
    if (measure_stage_.ends_shed_run(place)) [[unlikely]] {
      end(run);
      drain();
    }
    run.packets.add(facts);
    run.last = place;
    if (facts.time_ns != place.latest_ns || measure_stage_.has_bins()) [[unlikely]]
      end(run);
  }
  void end(Run& run) noexcept;

  /// Inspects one in n connections from now on; nothing may be in flight or unmeasured. Returns true if n changed.
  bool look_at_one_in(std::uint32_t connections) noexcept;

  const KeptOut& packets() const noexcept { return shed_; }

 private:
  std::unique_ptr<FlowSample> sample_;
  MeasureStage& measure_stage_;
  PacketClock& clock_;
  bool sheds_ = false;
  std::uint32_t most_one_in_ = 1;  ///< since all flows were inspected
  KeptOut shed_;
};

}  // namespace parshall
