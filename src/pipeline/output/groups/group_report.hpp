// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>

#include "pipeline/output/exporter.hpp"
#include "pipeline/output/groups/group_table.hpp"
#include "pipeline/output/queue/sink.hpp"
#include "pipeline/output/recent_events.hpp"

namespace parshall {

/// Writes one report at the end, of groups of flows.
///
/// Memory: memory_bytes().
class GroupReport final : public FileExporter {
 public:
  struct Order {
    std::string column;
    std::size_t top;  ///< how many groups; 0: all
  };

  /// `schema` must outlive it.
  GroupReport(std::unique_ptr<Output> output, std::unique_ptr<ReportSink> sink, const GroupSchema& schema,
              std::uint64_t most, std::uint64_t seed, Order order);

  static std::uint64_t memory_bytes(const GroupSchema& schema, std::uint64_t most, const Order& order) noexcept {
    return GroupTable::memory_bytes(most, schema.is_of_texts()) +
           sorting_bytes(schema.columns(), order.column, order.top);
  }

  void records(std::span<const ReportFlow> batch) override;
  void event(const Event& event) override { events_.event(event); }
  void accounting(const ReportSummary& summary, const OutputSummary&) override { write(summary, *sink_, output()); }

  /// Writes the same report to another place.
  void write(const ReportSummary& summary, ReportSink& sink, Output& output);

 private:
  std::unique_ptr<ReportSink> sink_;
  const GroupSchema& schema_;
  GroupTable table_;
  Order order_;
  RecentEvents events_;
};

}  // namespace parshall
