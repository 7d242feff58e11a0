// SPDX-License-Identifier: Apache-2.0
#include "tester/quiet.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "base/realtime.hpp"
#include "tester/frame_reader.hpp"

namespace parshall::tester {

bool wait_until_quiet(PacketSource& source, const QuietPlan& plan, const std::function<bool()>& stop) {
  constexpr std::chrono::microseconds kNap{200};
  const FrameReader reader({});
  std::array<RawPacket, 256> packets;
  const std::uint64_t began_ns = realtime_ns();
  std::uint64_t since_ns = plan.since_ns;
  while (!stop()) {
    const auto came = std::span(packets).first(source.poll(packets));
    const std::uint64_t now_ns = realtime_ns();
    if (std::ranges::any_of(came, [&](const RawPacket& packet) { return has_trailer(reader.read(packet).kind); }))
      since_ns = now_ns;
    if (came.size() < packets.size() && now_ns >= since_ns + plan.quiet_ns) return true;
    if (now_ns >= began_ns + plan.patience_ns) return false;
    if (came.empty()) std::this_thread::sleep_for(kNap);
  }
  return false;
}

}  // namespace parshall::tester
