// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/files/recall_csv.hpp"

#include <fmt/format.h>

#include "pipeline/output/format.hpp"

namespace parshall {
namespace {

std::string number_text(std::optional<double> value) {
  char text[40];
  return value ? std::string(text, put_number(text, *value)) : "";
}

std::optional<double> share(std::uint64_t part, std::uint64_t all) {
  return all == 0 ? std::nullopt : std::optional(static_cast<double>(part) / static_cast<double>(all));
}

constexpr std::string_view kHeader =
    "window_begin_ns,window_end_ns,window_begin_packet,window_end_packet,task,recall,recall_at_least_95,threshold,"
    "flows_seen,flows_missed,packets,packets_missed,packets_left_out_share\n";

std::string recall_csv(const WindowRecall& told) {
  const WindowLength& length = told.window.length;
  const std::string bounds =
      fmt::format("{},{}", length.begin_of(told.window.number), length.end_of(told.window.number));
  return fmt::format("{},{},{},{},{},{},{},{},{},{}\n",
                     length.unit == WindowLength::Unit::ns ? bounds + ",," : ",," + bounds, told.task,
                     number_text(told.recall), number_text(told.at_least), number_text(told.threshold), told.flows_seen,
                     told.flows_missed, told.window.totals.packets, told.window.totals.missed_packets,
                     number_text(share(told.packets_left_out, told.packets)));
}

class RecallExporter final : public FileExporter {
 public:
  using FileExporter::FileExporter;
  void begin(std::span<const ColumnInfo>) override { output().begin_with(std::string(kHeader)); }
  void recall(const WindowRecall& told) override { output().write(recall_csv(told)); }
};

}  // namespace

std::unique_ptr<Exporter> make_recall_exporter(std::unique_ptr<Output> output) {
  return std::make_unique<RecallExporter>(std::move(output));
}

}  // namespace parshall
