// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "pipeline/measure/tasks/task.hpp"

namespace parshall {

/// Reports each flow of a window for which a condition holds, with its packets, its bytes and the requested fields.
///
/// Error: none. A flow whose record ended in the window and that began again is judged record by record. If a record
///        ended for lack of room, its counts are lower bounds, and events say so.
/// Shape: room for 65,536 flows of a window; more are counted.
class FlowFinder : public Task {
 public:
  /// Returns the events of a flow; 0: it is not reported.
  using Events = std::function<std::uint64_t(const FlowWindow&)>;

  /// `counts_events`: whether a flow can have more than one event.
  FlowFinder(Events events, bool counts_events, std::vector<BoundField> shown);

  void flows(std::span<const FlowWindow> flows) override;
  void end(EventWriter& events) override;
  bool judges_flows() const noexcept override { return true; }
  bool counts_events() const noexcept override { return counts_events_; }
  std::size_t memory_bytes() const noexcept override;

 private:
  static constexpr std::size_t kMostKept = 1 << 16;

  struct Found {
    FlowKey key;
    std::uint64_t first_ns, packets, wire_bytes, events;
    std::size_t at;  ///< index of the first of its values
    std::uint8_t weight;
    bool in_part;  ///< FlowWindow::measured_in_part
  };

  Events events_;
  bool counts_events_;
  std::vector<BoundField> shown_;
  std::shared_ptr<const KeyPart> part_;
  std::vector<Found> found_;
  std::vector<std::optional<double>> values_;
  std::uint64_t more_ = 0;
};

/// Binds the fields of these names, all of which must exist.
std::vector<BoundField> bind_fields(TaskContext& context, std::initializer_list<std::string_view> names);

}  // namespace parshall
