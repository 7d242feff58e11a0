// SPDX-License-Identifier: Apache-2.0
#include "lab/classify/report.hpp"

#include <fmt/format.h>

#include "base/figures/row_columns.hpp"

namespace parshall::lab {
namespace {

struct Told {
  const ClassifySweep& sweep;
  const ClassifyRow& row;
  double source_ns;
};

constexpr std::size_t kSniffing = static_cast<std::size_t>(Module::sniffing),
                      kHandling = static_cast<std::size_t>(Module::flow_handling),
                      kClassifying = static_cast<std::size_t>(Module::classification);
using Of = const Told&;

Cell count(std::uint64_t value) { return value; }

/// Returns the CPU share of a module, if the shape has threads for it.
template <std::size_t Which>
Cell cpu_share(Of told) {
  return cell_if(Which == kHandling || !told.row.shape->inlined, told.row.cpu_share[Which].median);
}
template <std::size_t Which, double Estimate::*End>
Cell cpu_ns(Of told) {
  return cell_if(Which == kHandling || !told.row.shape->inlined, told.row.cpu_ns[Which].*End);
}
Cell lossless(Of told, double value) { return cell_if(told.sweep.find_rate, value); }

/// Lists all columns in order.
constexpr auto kClassifyColumns = std::to_array<ColumnOf<Told>>({
    {{"traffic", "traffic", 0, kCommon}, [](Of told) -> Cell { return told.sweep.traffic->description(); }},
    {{"cap", "frame size limit", 0, kCommon}, [](Of told) { return count(told.sweep.traffic->cap()); }},
    {{"line_mpps", "full load of an interface, Mpps", 2, kCommon},
     [](Of told) -> Cell { return told.sweep.traffic->mpps(); }},
    {{"line_gbps", "Gb/s", 2, kCommon}, [](Of told) -> Cell { return told.sweep.traffic->gbps(); }},
    {{"source_ns", "CPU ns: playing", 1, kCommon}, [](Of told) -> Cell { return told.source_ns; }},
    {{"model", "model", 0, kCommon}, [](Of told) -> Cell { return told.sweep.model; }},
    {{"seconds", "seconds a run", 1, kCommon}, [](Of told) -> Cell { return told.sweep.seconds; }},
    {{"table_flows", "flows of a table", 0, kCommon}, [](Of told) { return count(told.sweep.flows); }},
    {{"row", "configuration"}, [](Of told) -> Cell { return name_of(told.row); }},
    {{"shape", ""}, [](Of told) -> Cell { return std::string(told.row.shape->name); }},
    {{"placement", ""},
     [](Of told) -> Cell { return std::string(kPlacementNames[static_cast<std::size_t>(told.row.placement)]); }},
    {{"interfaces", ""}, [](Of told) { return count(told.row.shape->interfaces); }},
    {{"threads", "threads"}, [](Of told) { return count(told.row.shape->threads()); }},
    {{"affinity", "on cores"}, [](Of told) -> Cell { return told.row.affinity; }},
    {{"offered_mpps", "offered Mpps"}, [](Of told) -> Cell { return told.row.offered_mpps.median; }},
    {{"low_offered_mpps", ""}, [](Of told) -> Cell { return told.row.offered_mpps.low; }},
    {{"high_offered_mpps", ""}, [](Of told) -> Cell { return told.row.offered_mpps.high; }},
    {{"sniffed_mpps", "sniffed"}, [](Of told) -> Cell { return told.row.sniffed_mpps.median; }},
    {{"low_sniffed_mpps", ""}, [](Of told) -> Cell { return told.row.sniffed_mpps.low; }},
    {{"high_sniffed_mpps", ""}, [](Of told) -> Cell { return told.row.sniffed_mpps.high; }},
    {{"handled_mpps", "handled"}, [](Of told) -> Cell { return told.row.handled_mpps.median; }},
    {{"low_handled_mpps", "low"}, [](Of told) -> Cell { return told.row.handled_mpps.low; }},
    {{"high_handled_mpps", "high"}, [](Of told) -> Cell { return told.row.handled_mpps.high; }},
    {{"classified_mpps", "classified"}, [](Of told) -> Cell { return told.row.classified_mpps.median; }},
    {{"low_classified_mpps", ""}, [](Of told) -> Cell { return told.row.classified_mpps.low; }},
    {{"high_classified_mpps", ""}, [](Of told) -> Cell { return told.row.classified_mpps.high; }},
    {{"classified_kfps", "Kflows/s", 0}, [](Of told) -> Cell { return told.row.classified_kfps.median; }},
    {{"low_classified_kfps", ""}, [](Of told) -> Cell { return told.row.classified_kfps.low; }},
    {{"high_classified_kfps", ""}, [](Of told) -> Cell { return told.row.classified_kfps.high; }},
    {{"told_share", "classified by threads", 3}, [](Of told) -> Cell { return told.row.told_share; }},
    {{"refused_jobs", ""}, [](Of told) { return count(told.row.refused_jobs); }},
    {{"lost_share", "lost", 4}, [](Of told) -> Cell { return told.row.lost_share.median; }},
    {{"low_lost_share", ""}, [](Of told) -> Cell { return told.row.lost_share.low; }},
    {{"high_lost_share", ""}, [](Of told) -> Cell { return told.row.lost_share.high; }},
    {{"missed_share", "missed", 4}, [](Of told) -> Cell { return told.row.missed_share; }},
    {{"ring_full_share", "ring full", 4}, [](Of told) -> Cell { return told.row.ring_full_share; }},
    {{"sniffing_cpu", "CPU: sniffing"}, cpu_share<kSniffing>},
    {{"handling_cpu", "flows"}, cpu_share<kHandling>},
    {{"classifying_cpu", "classes"}, cpu_share<kClassifying>},
    {{"cpu", "all"}, [](Of told) -> Cell { return told.row.cpu_share_of_all.median; }},
    {{"low_cpu", ""}, [](Of told) -> Cell { return told.row.cpu_share_of_all.low; }},
    {{"high_cpu", ""}, [](Of told) -> Cell { return told.row.cpu_share_of_all.high; }},
    {{"thread_cpu", ""}, [](Of told) -> Cell { return told.row.thread_cpu; }},
    {{"sniffing_ns", "ns a packet: sniffing", 1}, cpu_ns<kSniffing, &Estimate::median>},
    {{"low_sniffing_ns", ""}, cpu_ns<kSniffing, &Estimate::low>},
    {{"high_sniffing_ns", ""}, cpu_ns<kSniffing, &Estimate::high>},
    {{"handling_ns", "flows", 1}, cpu_ns<kHandling, &Estimate::median>},
    {{"low_handling_ns", ""}, cpu_ns<kHandling, &Estimate::low>},
    {{"high_handling_ns", ""}, cpu_ns<kHandling, &Estimate::high>},
    {{"classifying_ns", "classes", 1}, cpu_ns<kClassifying, &Estimate::median>},
    {{"low_classifying_ns", ""}, cpu_ns<kClassifying, &Estimate::low>},
    {{"high_classifying_ns", ""}, cpu_ns<kClassifying, &Estimate::high>},
    {{"cpu_ns", "all", 1}, [](Of told) -> Cell { return told.row.cpu_ns_of_all.median; }},
    {{"low_cpu_ns", ""}, [](Of told) -> Cell { return told.row.cpu_ns_of_all.low; }},
    {{"high_cpu_ns", ""}, [](Of told) -> Cell { return told.row.cpu_ns_of_all.high; }},
    {{"memory_mb", "MB", 0}, [](Of told) -> Cell { return megabytes(told.row.memory_bytes); }},
    {{"resident_mb", "resident", 0}, [](Of told) -> Cell { return megabytes(told.row.resident_bytes); }},
    {{"lossless_mpps", "lossless Mpps"}, [](Of told) { return lossless(told, told.row.lossless_mpps.median); }},
    {{"low_lossless_mpps", "low"}, [](Of told) { return lossless(told, told.row.lossless_mpps.low); }},
    {{"high_lossless_mpps", "high"}, [](Of told) { return lossless(told, told.row.lossless_mpps.high); }},
    {{"lossless_gbps", "lossless Gb/s"}, [](Of told) { return lossless(told, told.row.lossless_gbps.median); }},
    {{"low_lossless_gbps", ""}, [](Of told) { return lossless(told, told.row.lossless_gbps.low); }},
    {{"high_lossless_gbps", ""}, [](Of told) { return lossless(told, told.row.lossless_gbps.high); }},
    {{"samples", "samples"}, [](Of told) { return count(told.row.samples); }},
});

}  // namespace

std::span<const Column> classify_columns() noexcept {
  static const std::vector<Column> heads = heads_of<Told>(kClassifyColumns);
  return heads;
}

Part classify_part(const ClassifySweep& sweep, std::span<const ClassifyRow> rows, double source_ns) {
  std::vector<Told> told;
  for (const ClassifyRow& row : rows) told.push_back({sweep, row, source_ns});
  std::string verdict;
  if (const std::size_t done = rows.front().samples; done < static_cast<std::size_t>(sweep.rounds))
    verdict = fmt::format("stopped after {} of {} rounds", done, sweep.rounds);
  return part_of<Told>(kClassifyColumns, told, std::move(verdict));
}

}  // namespace parshall::lab
