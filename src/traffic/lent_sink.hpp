// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "pipeline/capture/frame_sink.hpp"

namespace parshall {

/// Wraps a sink that outlives its sender.
class LentSink final : public FrameSink {
 public:
  explicit LentSink(FrameSink& sink) : sink_(sink) {}
  std::size_t reserve(std::span<OutFrame> frames) noexcept override { return sink_.reserve(frames); }
  std::size_t send(std::size_t count) noexcept override { return sink_.send(count); }
  void flush() noexcept override { sink_.flush(); }
  std::uint32_t longest_frame() const noexcept override { return sink_.longest_frame(); }
  std::uint32_t shortest_frame() const noexcept override { return sink_.shortest_frame(); }
  std::optional<double> line_bps() const noexcept override { return sink_.line_bps(); }
  std::optional<Error> damage() const override { return sink_.damage(); }

 private:
  FrameSink& sink_;
};

}  // namespace parshall
