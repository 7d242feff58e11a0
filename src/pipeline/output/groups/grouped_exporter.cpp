// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/groups/grouped_exporter.hpp"

#include <utility>

namespace parshall {

GroupedExporter::GroupedExporter(std::unique_ptr<Exporter> exporter, const GroupSchema& schema, std::uint64_t most,
                                 std::uint64_t seed)
    : exporter_(std::move(exporter)), schema_(schema), most_(most), table_(schema, most, seed) {
  exporter_->name_rows(schema.grouping().names);
}

void GroupedExporter::begin(std::span<const ColumnInfo>) { exporter_->begin(schema_.columns()); }

void GroupedExporter::records(std::span<const ReportFlow> batch) {
  for (const ReportFlow& flow : batch) {
    table_.add({flow.record, flow.values});  // all of it, whatever a report had before
    waiting_ += {.records = 1, .packets = flow.record.all_packets()};
  }
}

std::vector<std::string> GroupedExporter::left_out(std::span<const ColumnInfo>) const {
  std::vector<std::string> names = exporter_->left_out(schema_.columns());
  std::erase(names, GroupSchema::kUsualOrder);  // it is the sum of others
  return names;
}

void GroupedExporter::finish() {
  table_.visit([this](const ReportFlow& group) {
    exporter_->records({&group, 1});
    ++groups_;
  });
  exporter_->finish();
  is_finished_ = true;
}

void GroupedExporter::accounting(const ReportSummary& summary, const OutputSummary& own) {
  OutputSummary account = own;
  account.packets_in_columns = false;
  account.written.records = groups_;  // groups, beside the flow records that were dropped
  account.offered.records = groups_ + own.dropped.records + own.unconfirmed.records;
  exporter_->accounting(summary, account);
}

/// The inner exporter counts groups where the queue counts records, so only whether anything was not written is passed
/// on.
FlushOutcome GroupedExporter::flush() {
  FlushOutcome outcome = exporter_->flush();
  const bool is_whole = is_finished_ && outcome.held.records == 0;
  const auto pass_on = [&](OutputSummary::Sum& sum, bool all) {
    sum = OutputSummary::Sum{.findings = sum.findings} + (all ? waiting_ : OutputSummary::Sum());
  };
  pass_on(outcome.held, !is_whole);
  pass_on(outcome.not_sent, is_whole && outcome.not_sent.records != 0);
  pass_on(outcome.unconfirmed, is_whole && outcome.not_sent.records == 0 && outcome.unconfirmed.records != 0);
  if (is_whole) waiting_ = {};
  return outcome;
}

std::uint64_t GroupedExporter::memory_bytes(std::span<const ColumnInfo>) const {
  return exporter_->memory_bytes(schema_.columns()) + GroupTable::memory_bytes(most_, schema_.is_of_texts());
}

}  // namespace parshall
