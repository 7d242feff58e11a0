// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <utility>

#include "cli/messages.hpp"
#include "pipeline/output/exporter.hpp"
#include "pipeline/output/text/alarm_text.hpp"

namespace parshall::cli {

/// Shows warnings and critical alarms as they begin to someone who watches the terminal.
class AlarmNotice final : public Exporter {
 public:
  explicit AlarmNotice(std::string command) noexcept : command_(std::move(command)) {}

  void alarm(const Alarm& alarm) override {
    if (alarm.state != Alarm::State::ended && alarm.severity != Severity::info)
      say(command_, alarm_text(alarm, TimeZone::local));
  }

 private:
  std::string command_;
};

}  // namespace parshall::cli
