// SPDX-License-Identifier: Apache-2.0
#include "app/link_notice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/messages.hpp"

namespace parshall::cli {

LinkNotice::LinkNotice(std::string command, std::string source, const Session& session)
    : command_(std::move(command)), source_(std::move(source)), session_(session), reported_(session.input_state()) {}

void LinkNotice::look() {
  constexpr std::chrono::seconds kLookEvery{1};
  const InputState now = session_.input_state();
  if (now == InputState::gone || Clock::now() < next_look_) return;
  next_look_ = Clock::now() + kLookEvery;
  if (std::exchange(reported_, now) != now)
    say(command_, fmt::format("{} is {}", source_,
                              now == InputState::up ? "up again" : "down: no packets arrive until it is up again"));
  for (const InterfacePackets& interface : session_.interfaces()) {
    if (!interface.is_gone || std::ranges::find(gone_, interface.name) != gone_.end()) continue;
    gone_.push_back(interface.name);
    say(command_, fmt::format("{} was removed: the run continues with the other interfaces. To capture a new interface "
                              "of that name, start parshall again",
                              interface.name));
  }
}

}  // namespace parshall::cli
