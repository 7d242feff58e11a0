// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "pipeline/measure/tasks/event.hpp"

namespace parshall {

/// One of many values, whose names are long: some 5 KB.
inline Event large_event() {
  Event event{.task = "a task whose name is not short"};
  for (int i = 0; i < 40; ++i)
    event.values.push_back({"the value of this task of the number " + std::to_string(i), std::uint64_t{1}});
  event.error = {{"relative_error_of_each_of_these", 0.5}};
  return event;
}

}  // namespace parshall
