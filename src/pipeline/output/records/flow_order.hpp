// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <compare>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <tuple>

#include "pipeline/flow/record.hpp"
#include "pipeline/output/text/report.hpp"

namespace parshall {

/// Orders records that are equal in their sort column: by key, then by time. So the order of a report does not depend
/// on the seed.
inline std::strong_ordering record_order(const FlowRecord& a, const FlowRecord& b) noexcept {
  const auto head = [](const FlowRecord& record) { return record.key.ip_version; };
  if (const auto order = head(a) <=> head(b); order != 0) return order;
  const std::size_t bytes = 2 * a.key.address_bytes();
  if (const int order = std::memcmp(a.key.address.data(), b.key.address.data(), bytes); order != 0) return order <=> 0;
  const auto rest = [](const FlowRecord& record) {
    return std::tuple(record.key.src_port(), record.key.dst_port(), record.key.protocol, record.first_ns,
                      record.last_ns, record.all_packets());
  };
  return rest(a) <=> rest(b);
}

/// Order of a report's flows: falling by a column, absent values last, equal ones by record_order().
class FlowOrder {
 public:
  /// `column` is its index among `columns`; nullopt orders by the record's packets, when no column has them.
  FlowOrder(std::span<const ColumnInfo> columns, std::optional<std::size_t> column) noexcept
      : column_(column), of_record_(columns_of_record(columns)) {}

  /// Returns how many columns need not be stored, because read_record() can restore them from the record.
  std::size_t of_record() const noexcept { return of_record_; }
  void read_record(const FlowRecord& record, std::span<Value> values) const noexcept {
    if (of_record_ != 0) read_base_columns(record, values.first<kBaseColumns>());
  }

  Value key_of(const ReportFlow& flow) const noexcept {
    return column_ ? flow.values[*column_] : Value::of_unsigned(flow.record.packets);
  }
  /// Returns the sort key, given the stored values, which are those behind of_record().
  Value key_of(const FlowRecord& record, std::span<const Value> kept) const noexcept {
    if (!column_) return Value::of_unsigned(record.packets);
    if (*column_ >= of_record_) return kept[*column_ - of_record_];
    std::array<Value, kBaseColumns> values;
    read_base_columns(record, values);
    return values[*column_];
  }

  static bool comes_first(const Value& a_key, const FlowRecord& a, const Value& b_key, const FlowRecord& b) noexcept {
    const auto order = a_key <=> b_key;
    return order == 0 ? record_order(a, b) < 0 : order > 0;
  }

 private:
  std::optional<std::size_t> column_;
  std::size_t of_record_;
};

}  // namespace parshall
