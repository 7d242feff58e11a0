// SPDX-License-Identifier: Apache-2.0
#include "lab/table_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "lab/machine.hpp"

namespace parshall::lab {
namespace {

double load_factor(const TableRow& row) {
  return row.places == 0 ? 0 : static_cast<double>(row.size) / static_cast<double>(row.places);
}

std::string text_head() {
  std::string text;
  for (const auto& [name, value] : describe_machine()) text += fmt::format("{:<22} {}\n", name, value);
  return text;
}

std::string text_rows(std::span<const TableRow> rows) {
  std::string text =
      fmt::format("\n{} flows, {}\n{:<21} {:>6} {:>8} {:>17} {:>7} {:>9} {:>5} {:>7} {:>9} {:>8}\n", rows[0].flows,
                  rows[0].zipf == 0 ? "uniform" : fmt::format("Zipf {}", rows[0].zipf), "table", "value", "ns",
                  "95 % interval", "ratio", "most MB", "load", "probes", "rejected", "samples");
  for (const TableRow& row : rows)
    text += fmt::format("{:<21} {:>6} {:>8.2f} {:>8.2f} {:>8.2f} {:>7.2f} {:>9.1f} {:>5} {:>7} {:>9} {:>8}\n",
                        row.table->name, row.value_bytes == 0 ? "own" : fmt::format("{} B", row.value_bytes),
                        row.cost.median_ns, row.cost.low_ns, row.cost.high_ns, row.ratio,
                        static_cast<double>(row.memory_bytes) / 0x1p20,
                        row.places == 0 ? "" : fmt::format("{:.2f}", load_factor(row)),
                        row.mean_probes == 0 ? "" : fmt::format("{:.2f}", row.mean_probes),
                        row.rejected_share == 0 ? "" : fmt::format("{:.2f} %", 100 * row.rejected_share),
                        fmt::format("{}/{}", row.cost.kept, row.cost.samples));
  return text + verdict(rows) + "\n";
}

std::string csv_head() {
  return "table,flows,zipf,value_bytes,ns,low_ns,high_ns,ratio,memory_bytes,size,places,mean_probes,rejected_share,"
         "samples,kept\n";
}

std::string csv_rows(std::span<const TableRow> rows) {
  std::string text;
  for (const TableRow& row : rows)
    text += fmt::format("{},{},{},{},{:.4f},{:.4f},{:.4f},{:.4f},{},{},{},{},{},{},{}\n", row.table->name, row.flows,
                        row.zipf, row.value_bytes == 0 ? "" : fmt::format("{}", row.value_bytes), row.cost.median_ns,
                        row.cost.low_ns, row.cost.high_ns, row.ratio, row.memory_bytes, row.size,
                        row.places == 0 ? "" : fmt::format("{}", row.places),
                        row.mean_probes == 0 ? "" : fmt::format("{:.4f}", row.mean_probes), row.rejected_share,
                        row.cost.samples, row.cost.kept);
  return text;
}

std::string json_rows(std::span<const TableRow> rows) {
  nlohmann::ordered_json document;
  for (const auto& [name, value] : describe_machine()) document["machine"][name] = value;
  document["flows"] = rows[0].flows;
  document["zipf"] = rows[0].zipf;
  document["verdict"] = verdict(rows);
  for (const TableRow& row : rows) {
    const auto or_null = [](bool there, auto value) { return there ? nlohmann::ordered_json(value) : nullptr; };
    document["rows"].push_back({{"table", row.table->name},
                                {"value_bytes", or_null(row.value_bytes != 0, row.value_bytes)},
                                {"ns", row.cost.median_ns},
                                {"low_ns", row.cost.low_ns},
                                {"high_ns", row.cost.high_ns},
                                {"ratio", row.ratio},
                                {"memory_bytes", row.memory_bytes},
                                {"size", row.size},
                                {"places", or_null(row.places != 0, row.places)},
                                {"mean_probes", or_null(row.mean_probes != 0, row.mean_probes)},
                                {"rejected_share", row.rejected_share},
                                {"samples", row.cost.samples},
                                {"kept", row.cost.kept}});
  }
  return document.dump() + "\n";
}

constexpr TableFormat kFormats[] = {
    {"text", text_head, text_rows},
    {"csv", csv_head, csv_rows},
    {"json", [] { return std::string(); }, json_rows},
};

}  // namespace

std::span<const TableFormat> table_formats() noexcept { return kFormats; }

std::string verdict(std::span<const TableRow> rows) {
  std::vector<const TableRow*> exact;
  for (const TableRow& row : rows)
    if (row.table->whole_keys && row.rejected_share == 0) exact.push_back(&row);
  if (exact.size() < 2) return "nothing to choose from: fewer than two of them counted every flow exactly";
  constexpr std::size_t kFewest = 6;  // samples that have a 95 % interval
  for (const TableRow* row : exact)
    if (row->cost.kept < kFewest)
      return fmt::format("no winner: {} undisturbed samples of {}, and {} are needed", row->cost.kept, row->table->name,
                         kFewest);
  const TableRow* best = *std::ranges::min_element(exact, {}, [](const TableRow* row) { return row->cost.median_ns; });
  std::string others;
  for (const TableRow* row : exact)
    if (row != best && row->cost.low_ns <= best->cost.high_ns) others += fmt::format(", {}", row->table->name);
  if (!others.empty()) return fmt::format("no winner: the intervals of {}{} overlap", best->table->name, others);
  return fmt::format("cheapest of those that counted every flow exactly: {}", best->table->name);
}

}  // namespace parshall::lab
