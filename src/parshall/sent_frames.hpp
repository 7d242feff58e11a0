// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "parshall/send_options.hpp"

namespace parshall {

/// Frames that were sent to a file or to memory, without waiting.
///
/// Shape:  Ethernet frames without their check sequence, one after another. For a file only the counts are filled.
struct SentFrames {
  std::vector<std::uint8_t> data;
  std::vector<std::int64_t> offsets;   ///< offset of each frame in data
  std::vector<std::uint32_t> lengths;  ///< length of each frame in bytes
  std::vector<std::int64_t> times_ns;  ///< send time of each frame, since 1970

  std::uint64_t frames = 0, bytes = 0;
  std::uint64_t left_out = 0;         ///< packets that make no frame, or one that is too long
  std::optional<std::string> damage;  ///< error in the capture, which was sent up to there
};

/// Sends to options.file or, with options.kept, to memory. Calls `stop` often, and fails if it returns true; frames
/// already in a file stay there. Other errors are the command line's.
Result<SentFrames> send_frames(const SendOptions& options, const std::function<bool()>& stop);

}  // namespace parshall
