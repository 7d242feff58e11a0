// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "monitor/event_hook.hpp"
#include "pipeline/output/event_json.hpp"
#include "pipeline/output/exporter.hpp"

namespace parshall::cli {

/// Runs a command for what tasks find.
class HookExporter final : public InnerExporter {
 public:
  explicit HookExporter(EventHook& hook) : hook_(hook) {}
  void event(const Event& event) override { hook_.event(event.task, event_json(event)); }

 private:
  EventHook& hook_;
};

}  // namespace parshall::cli
