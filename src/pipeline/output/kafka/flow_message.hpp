// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/output/records/account_columns.hpp"
#include "pipeline/output/text/report.hpp"

namespace parshall {

/// Field of a FlowMessage for a column: goflow2's number if it has one, else one of ours, from 2000 on. Numbers never
/// change. examples/warehouse/kafka/flow.proto has them all.
struct FlowMessageField {
  std::string_view column;
  std::uint32_t number;
};
std::span<const FlowMessageField> flow_message_fields() noexcept;

/// Returns the names of columns without a field.
std::vector<std::string> columns_without_field(std::span<const ColumnInfo> columns);

/// Writes records as Protocol Buffers, each behind its length. Columns without a field are left out. Source: goflow2's
/// pb/flow.proto. Addresses always have 16 bytes, with IPv4 mapped, as ClickHouse expects.
class FlowMessages {
 public:
  FlowMessages(std::span<const ColumnInfo> columns, const ExportRun& run);

  /// Appends a record. `sequence` numbers the records of this output; `now_ns` counts from 1970.
  void put(const ReportFlow& flow, std::uint64_t sequence, std::uint64_t now_ns, std::string& out);

 private:
  struct Placed {
    std::size_t column;
    std::uint32_t number;
    ColumnType type;
    bool is_text;
  };

  std::span<const ColumnInfo> columns_;
  std::vector<Placed> fields_;
  std::string begin_;  ///< prefix of all messages
  std::string message_;
};

}  // namespace parshall
