// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "base/keyed_hash.hpp"
#include "pipeline/measure/statistics/flow_origin.hpp"
#include "pipeline/output/base_columns.hpp"
#include "pipeline/output/loss_log.hpp"

namespace parshall {

/// Names flows: a hash of the key and of when the flow began, so that a key that comes again is another flow.
///
/// Error: two of n flows have one name with probability n^2 / 2^65: of 10^8 flows, 0.03 %.
class FlowIds {
 public:
  /// Under a secret of its own: what is written to a file must not tell the one that flows are found by.
  explicit FlowIds(std::uint64_t seed) noexcept;

  std::uint64_t operator()(const FlowKey& key, std::uint64_t began_ns) const noexcept;

 private:
  KeyedHash hash_;
};

/// What a record is of its flow, and what it may lack.
struct RecordIdentity {
  const FlowRecord& record;
  FlowOrigin::State origin;
  const FlowIds& ids;
  const LossLog& losses;
};

/// A column of that, which follows from more than the record's counters.
struct IdentityColumn {
  std::string_view name, unit;
  ColumnType type;
  IpfixElement ipfix;
  bool of_origin;  ///< needs to know where the flow began; else when packets were lost
  std::string_view help;
  Value (*read)(const RecordIdentity&);
};

/// Those that come where they were asked for: one line each.
std::span<const IdentityColumn> identity_columns() noexcept;

}  // namespace parshall
