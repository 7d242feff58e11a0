// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "pipeline/output/exporter.hpp"
#include "pipeline/output/groups/group_table.hpp"

namespace parshall {

/// Adds up records by group, and hands the groups to another exporter when the records end. Until then, all records
/// count as held. The account of the other exporter has groups in place of records, and their packets are not compared
/// with it: many groups count a packet twice, once for each of its ends.
class GroupedExporter final : public Exporter {
 public:
  /// Keeps at most `most` groups. `schema` must outlive it.
  GroupedExporter(std::unique_ptr<Exporter> exporter, const GroupSchema& schema, std::uint64_t most,
                  std::uint64_t seed);

  void observe_at(const ObservationPoint& point) override { exporter_->observe_at(point); }
  void begin_anew() override { exporter_->begin_anew(); }
  void begin(std::span<const ColumnInfo> columns) override;
  void records(std::span<const ReportFlow> batch) override;
  std::vector<std::string> left_out(std::span<const ColumnInfo> columns) const override;
  void event(const Event& event) override { exporter_->event(event); }
  void recall(const WindowRecall& told) override { exporter_->recall(told); }
  void alarm(const Alarm& alarm) override { exporter_->alarm(alarm); }
  void finish() override;
  void accounting(const ReportSummary& summary, const OutputSummary& own) override;
  FlushOutcome flush() override;
  std::uint64_t memory_bytes(std::span<const ColumnInfo> columns) const override;
  std::string file() const override { return exporter_->file(); }

 private:
  std::unique_ptr<Exporter> exporter_;
  const GroupSchema& schema_;
  std::uint64_t most_;
  GroupTable table_;
  OutputSummary::Sum waiting_;  ///< records that were added up
  std::uint64_t groups_ = 0;    ///< handed over
  bool is_finished_ = false;
};

}  // namespace parshall
