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

/// What was sent to a file or to memory, without waiting.
///
/// Shape: Ethernet frames without their check sequence, one behind the other; of a file nothing but the counts.
struct SentFrames {
  std::vector<std::uint8_t> data;
  std::vector<std::int64_t> offsets;   ///< where each begins in data
  std::vector<std::uint32_t> lengths;  ///< bytes of each
  std::vector<std::int64_t> times_ns;  ///< when each is sent, since 1970

  std::uint64_t frames = 0, bytes = 0;
  std::uint64_t left_out = 0;         ///< packets that make no frame, or one that is too long
  std::optional<std::string> damage;  ///< where the capture broke: it was sent up to there
};

/// Sends to options.file or, where options.kept, to memory. Errors are the command line's; and where `stop`, which is
/// asked often, said so: what is in a file by then stays there.
Result<SentFrames> send_frames(const SendOptions& options, const std::function<bool()>& stop);

}  // namespace parshall
