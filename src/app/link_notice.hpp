// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <string>
#include <vector>

#include "engine/session.hpp"

namespace parshall::cli {

/// Reports on standard error that a captured interface went down or came back, at most once a second, and once that
/// one of several is gone. An interface whose loss ends the run is left to the final report.
class LinkNotice {
 public:
  /// `session` outlives this.
  LinkNotice(std::string command, std::string source, const Session& session);

  void look();

 private:
  using Clock = std::chrono::steady_clock;

  std::string command_, source_;
  const Session& session_;
  InputState reported_;
  std::vector<std::string> gone_;  ///< interfaces that were reported
  Clock::time_point next_look_;
};

}  // namespace parshall::cli
