// SPDX-License-Identifier: Apache-2.0
#include "lab/tables/tasks.hpp"

#include <algorithm>
#include <utility>

namespace parshall::lab {

std::vector<std::uint8_t> true_reports(Task task, std::span<const std::uint32_t> trace, std::size_t flows) {
  std::vector<std::uint8_t> reports;
  if (task == Task::superspreader) {
    std::vector<std::pair<std::uint32_t, std::uint64_t>> seen(trace.size());
    for (std::size_t i = 0; i < trace.size(); ++i) seen[i] = {trace[i], SuperspreaderValue::element(trace[i], i)};
    std::ranges::sort(seen);
    seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
    std::vector<std::uint32_t> destinations(flows);
    for (const auto& [flow, destination] : seen) ++destinations[flow];
    for (const std::uint32_t count : destinations) reports.push_back(count > SuperspreaderValue::kThreshold);
  } else if (task == Task::change) {
    std::vector<ChangeValue> values(flows);
    TaskTally tally;
    for (std::size_t i = 0; i < trace.size(); ++i) values[trace[i]].packet(ChangeValue::element(trace[i], i), tally);
    for (const ChangeValue& value : values) reports.push_back(value.reported());
  }
  return reports;
}

}  // namespace parshall::lab
