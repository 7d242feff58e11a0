// SPDX-License-Identifier: Apache-2.0
#include "compare/report/report.hpp"

#include "compare/report/flow_table.hpp"
#include "compare/report/json.hpp"
#include "compare/report/text.hpp"

namespace parshall {

std::vector<const ComparedFlow*> CompareReport::flows(const Comparison& found) const {
  std::vector<const ComparedFlow*> chosen;
  for (const ComparedFlow& flow : found.flows)
    if (only != "lossy" || !flow.passed.is_whole()) chosen.push_back(&flow);
  return chosen;
}

std::optional<Error> CompareReport::write(const Compared& compared, Output& output) const {
  const std::vector<const ComparedFlow*> chosen = flows(compared.found);
  if (format == "parquet") return ComparedTable(compared, chosen).write_parquet(output);
  if (format == "csv")
    ComparedTable(compared, chosen).write_csv(output);
  else if (format == "json")
    write_compared_json(compared, chosen, output);
  else
    write_compared_text(compared, chosen, top, output);
  return std::nullopt;
}

}  // namespace parshall
