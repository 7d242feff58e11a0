// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/windows/measures/bursts.hpp"

#include <fmt/format.h>

namespace parshall {
namespace {

class BurstPackets final : public FlowMeasure {
 public:
  explicit BurstPackets(std::uint64_t within_ns) : within_ns_(within_ns) {}

  std::string name() const override { return fmt::format("bursts within {} ns", within_ns_); }
  std::size_t row_bytes() const noexcept override { return sizeof(Bursts); }
  FindingNeeds needs() const noexcept override { return {.iat = true}; }

  void update(const MeasureBatch& batch) const noexcept override {
    for (std::size_t i = 0; i < batch.size(); ++i) batch.part<Bursts>(i).packets += batch.packet(i).iat_ns < within_ns_;
  }

 private:
  std::uint64_t within_ns_;
};

}  // namespace

std::shared_ptr<const FlowMeasure> Bursts::within(std::uint64_t ns) { return std::make_shared<BurstPackets>(ns); }

}  // namespace parshall
