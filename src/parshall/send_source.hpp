// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>

#include "base/result.hpp"
#include "parshall/send_choices.hpp"
#include "pipeline/capture/source.hpp"
#include "traffic/frame_writer.hpp"

namespace parshall {

/// Source of the packets to send, and the encoder that makes frames of them.
struct SendSource {
  std::string name;
  std::unique_ptr<PacketSource> packets;
  std::unique_ptr<FrameWriter> writer;
};

/// Opens built-in traffic or a capture.
Result<SendSource> open_send_source(const SendOptions& options, const SendChoices& choices);

/// Opens built-in traffic that repeats for ever.
Result<std::unique_ptr<PacketSource>> play(const TrafficSpec& spec);

}  // namespace parshall
