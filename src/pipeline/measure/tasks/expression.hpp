// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "pipeline/measure/tasks/task.hpp"

namespace parshall {

/// A condition on a flow's numbers: "rate_pps > 200 and packets > 100".
///
/// Fields by name, numbers, + - * / ^, < <= > >= == !=, and or not, brackets, min max abs sqrt log10 and what else
/// muParser has. It does not hold for a flow that lacks one of its fields, nor where its value is no number (0 / 0).
class Expression {
 public:
  /// Fails, saying where and why, on what is no such condition. Asks `context` for the fields it names.
  static Result<Expression> parse(const std::string& text, TaskContext& context);

  Expression(Expression&&) noexcept;
  Expression& operator=(Expression&&) noexcept;
  ~Expression();

  bool holds(const FlowWindow& flow);
  const std::vector<BoundField>& fields() const noexcept;  ///< that it names

 private:
  struct Compiled;
  explicit Expression(std::unique_ptr<Compiled> compiled);

  std::unique_ptr<Compiled> compiled_;
};

}  // namespace parshall
