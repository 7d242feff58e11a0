// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <utility>

#include "app/event_hook.hpp"
#include "pipeline/output/exporter.hpp"
#include "pipeline/output/json/event_json.hpp"

namespace parshall::cli {

/// Runs a command for task events. Events whose command failed count as dropped.
class HookExporter final : public Exporter {
 public:
  explicit HookExporter(EventHook& hook) : hook_(hook) {}
  void event(const Event& event) override { hook_.event(event.task, event_json(event)); }
  void finish() override { hook_.finish(); }
  FlushOutcome flush() override {
    hook_.look();
    const std::uint64_t before = std::exchange(failed_, hook_.failed());
    FlushOutcome outcome;
    outcome.trouble = hook_.failure();
    outcome.not_sent.findings = failed_ - before;
    return outcome;
  }

 private:
  EventHook& hook_;
  std::uint64_t failed_ = 0;  ///< value at the last flush
};

}  // namespace parshall::cli
