// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "pipeline/capture/source.hpp"

namespace parshall {

/// One of several sources that read the same input in turns: each packet goes to the source that polls next. Only one
/// of them may be called at a time, except for share_read() and counters(), and for damage() once all are exhausted.
class TurnSource final : public PacketSource {
 public:
  /// Makes `sources` sources of an input that keeps its packets (PacketSource::keeps_packets()), up to its `limit`-th
  /// packet.
  static std::vector<std::unique_ptr<PacketSource>> make(std::unique_ptr<PacketSource> whole, std::size_t sources,
                                                         std::uint64_t limit) {
    const auto input = std::make_shared<Shared>(Shared{std::move(whole), limit});
    std::vector<std::unique_ptr<PacketSource>> all;
    for (std::size_t i = 0; i < sources; ++i)
      all.push_back(std::unique_ptr<PacketSource>(new TurnSource(input, /*is_first=*/i == 0)));
    return all;
  }

  std::size_t poll(std::span<RawPacket> out) noexcept override {
    const std::size_t count =
        shared_->whole->poll(out.first(static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), shared_->left))));
    shared_->left -= count;
    return count;
  }
  bool exhausted() const noexcept override { return shared_->left == 0 || shared_->whole->exhausted(); }
  bool keeps_packets() const noexcept override { return true; }
  Counters counters() noexcept override { return is_first_ ? shared_->whole->counters() : Counters(); }
  std::optional<std::uint64_t> most_ip_packets() const noexcept override { return shared_->whole->most_ip_packets(); }
  std::vector<LinkType> link_types() const override { return shared_->whole->link_types(); }
  std::optional<double> share_read() const noexcept override { return shared_->whole->share_read(); }
  std::optional<Error> damage() const override { return shared_->whole->damage(); }

 private:
  struct Shared {
    std::unique_ptr<PacketSource> whole;
    std::uint64_t left;
  };

  TurnSource(std::shared_ptr<Shared> shared, bool is_first) noexcept
      : shared_(std::move(shared)), is_first_(is_first) {}

  std::shared_ptr<Shared> shared_;
  bool is_first_;
};

}  // namespace parshall
