// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>

#include "engine/measurement.hpp"
#include "pipeline/flow/flow_sample.hpp"
#include "pipeline/flow/kept_out.hpp"

namespace parshall {

/// Times of the packets that a worker's flow stage had last, in the order in which they came to it.
struct PacketClock {
  std::uint64_t latest_ns = 0;   ///< of any
  std::uint64_t counted_ns = 0;  ///< of one that was looked at
};

/// Which flows a worker looks at where there is no time for all, and what becomes of the packets of the others:
/// counted, and told to the windows in runs.
class Shedder {
 public:
  /// Packets between which no window ends.
  struct Run {
    KeptOut packets;
    LinkPlace last;
  };

  Shedder(const FlowStageOptions& options, Measurement& measurement, PacketClock& clock);

  /// Null: packets of all flows are looked at, whatever comes.
  const FlowSample* sample() const noexcept { return sample_.get(); }

  /// Whether the sample leaves any flow out. Only then:
  bool sheds() const noexcept { return sheds_; }
  bool takes(const FlowKey& flow) const noexcept { return sample_->takes(flow); }

  /// A packet of a flow that is left out; those in flight are before it: `drain` is called where a window ends there.
  /// The last run() is to be ended.
  template <class Drain>
  [[gnu::always_inline]] void shed(const PacketFacts& facts, LinkPlace place, Run& run, FlowKeys key_of,
                                   Drain drain) noexcept {
    if (measurement_.ends_shed_run(place)) [[unlikely]] {
      end(run, key_of);
      drain();
    }
    run.packets.add(facts);
    run.last = place;
    if (facts.time_ns != place.latest_ns || measurement_.has_bins()) [[unlikely]]
      end(run, key_of);
  }
  void end(Run& run, FlowKeys key_of) noexcept;

  /// One of so many connections is looked at from here on: with nothing in flight, all measured. Whether that is news.
  bool look_at_one_in(std::uint32_t connections) noexcept;

  const KeptOut& packets() const noexcept { return shed_; }

 private:
  std::unique_ptr<FlowSample> sample_;
  Measurement& measurement_;
  PacketClock& clock_;
  bool sheds_ = false;
  std::uint32_t most_one_in_ = 1;  ///< since all were looked at
  KeptOut shed_;
};

}  // namespace parshall
