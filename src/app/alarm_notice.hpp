// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>

#include "cli/messages.hpp"
#include "pipeline/output/exporter.hpp"
#include "pipeline/output/outputs.hpp"
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

/// Adds the notice if standard error is a terminal.
inline void show_alarms(Outputs& outputs, const std::string& command) {
  if (::isatty(STDERR_FILENO) == 1)
    outputs.add(std::make_unique<AlarmNotice>(command),
                {.name = "terminal", .takes = {.alarms = ExporterTakes::Alarms::told}, .waits = false});
}

}  // namespace parshall::cli
