// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "pipeline/measure/tasks/task.hpp"

namespace parshall {

/// Condition on a flow's fields: "rate_pps > 200 and packets > 100".
///
/// Supports fields by name, numbers, + - * / ^, < <= > >= == !=, and or not, brackets, min max abs sqrt log10 and what
/// else muParser has. It is false for a flow that lacks one of its fields, or if its value is not a number (0 / 0).
class Expression {
 public:
  /// Parses a condition. An error says where and why it is invalid. Requests the named fields from `context`.
  static Result<Expression> parse(const std::string& text, TaskContext& context);

  Expression(Expression&&) noexcept;
  Expression& operator=(Expression&&) noexcept;
  ~Expression();

  bool holds(const FlowWindow& flow);
  const std::vector<BoundField>& fields() const noexcept;  ///< fields that it names

 private:
  struct Compiled;
  explicit Expression(std::unique_ptr<Compiled> compiled);

  std::unique_ptr<Compiled> compiled_;
};

}  // namespace parshall
