// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <utility>

#include "app/live/live_view.hpp"
#include "engine/session.hpp"

namespace parshall::live {

/// Adapts a session to the live view and the web page.
class LiveSession final : public Watched {
 public:
  explicit LiveSession(Session& session) : session_(session) {}
  std::uint64_t packets_polled() const override { return session_.packets_polled(); }
  bool finished() const override { return session_.finished(); }
  void begin_snapshot() override { session_.begin_snapshot(); }
  std::optional<Report> poll_snapshot() override { return session_.poll_snapshot(SnapshotFlows::live); }
  Report final_report() override { return session_.final_report(); }
  void change_columns(Schema schema) override { session_.change_columns(std::move(schema)); }

 private:
  Session& session_;
};

}  // namespace parshall::live
