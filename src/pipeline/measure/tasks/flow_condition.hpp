// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>

#include "pipeline/measure/tasks/expression.hpp"
#include "pipeline/measure/tasks/task.hpp"

namespace parshall {

/// The flows of a window for which a condition of the user's holds: `--task 'name=expression'`.
///
/// Error: none; a flow whose record ended in the window and that began again is judged record by record.
class FlowCondition final : public Task {
 public:
  explicit FlowCondition(Expression condition);

  void flows(std::span<const FlowWindow> flows) override;
  void end(EventWriter& events) override;
  std::size_t memory_bytes() const noexcept override { return kMostKept * sizeof(FlowWindow); }

 private:
  static constexpr std::size_t kMostKept = 1 << 16;  ///< of a window; more are counted

  std::shared_ptr<const KeyPart> part_;
  Expression condition_;
  std::vector<FlowWindow> found_;
  std::uint64_t more_ = 0;
};

}  // namespace parshall
