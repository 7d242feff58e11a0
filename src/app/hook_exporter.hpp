// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <utility>

#include "app/event_hook.hpp"
#include "pipeline/output/exporter.hpp"
#include "pipeline/output/json/event_json.hpp"

namespace parshall::cli {

/// Runs a command for task events. Events whose command failed count as dropped.
class HookExporter final : public InnerExporter {
 public:
  explicit HookExporter(EventHook& hook) : hook_(hook) {}
  void event(const Event& event) override { hook_.event(event.task, event_json(event)); }
  void finish() override { hook_.finish(); }
  void flush() override { hook_.look(); }
  std::string trouble() const override { return hook_.failure(); }
  OutputSummary::Sum take_not_sent() noexcept override {
    const std::uint64_t before = std::exchange(failed_, hook_.failed());
    return {.findings = failed_ - before};
  }

 private:
  EventHook& hook_;
  std::uint64_t failed_ = 0;  ///< value at the last flush
};

}  // namespace parshall::cli
