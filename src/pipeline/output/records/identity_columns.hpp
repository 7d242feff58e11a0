// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "base/keyed_hash.hpp"
#include "pipeline/measure/statistics/application_names.hpp"
#include "pipeline/measure/statistics/digest.hpp"
#include "pipeline/measure/statistics/flow_label.hpp"
#include "pipeline/measure/statistics/flow_origin.hpp"
#include "pipeline/output/files/loss_log.hpp"
#include "pipeline/output/records/base_columns.hpp"
#include "pipeline/output/records/host_names.hpp"

namespace parshall {

/// Names flows by a keyed hash.
///
/// Error: two of n flows have the same name with probability n^2 / 2^65: 0.03 % for 10^8 flows.
class FlowIds {
 public:
  /// Derives its own secret from the seed: output files must not reveal the secret of the flow table.
  explicit FlowIds(std::uint64_t seed) noexcept;

  /// Returns the name of a flow by its key and beginning, so that a key that returns is another flow.
  std::uint64_t operator()(const FlowKey& key, std::uint64_t began_ns) const noexcept;

  /// Returns the name of a key, which is the same at every tap with the same seed. The opposite direction has the same
  /// name except for the lowest bit.
  std::uint64_t of_key(const FlowKey& key) const noexcept;

  /// Returns a number that shows whether two taps have the same seed.
  std::uint64_t check() const noexcept;

 private:
  KeyedHash hash_, portable_;  ///< of different secrets
};

/// Relation of a record to its flow, and what the record may lack.
struct RecordIdentity {
  const FlowRecord& record;
  FlowOrigin::State origin;
  const FlowIds& ids;
  const LossLog& losses;
  Digest::State digest = {};  ///< without packets if it is not kept
  NamesOfFlow names = {};
  const HostNames* hosts = nullptr;  ///< null if addresses have no names
  LabelOfFlow label = {};
  std::array<const std::byte*, 2> payloads = {};  ///< of FirstPayloads: of this direction and of the reverse one
};

/// Names what a column needs in a flow's row; resolved_names only if StatisticOptions::resolves_names.
enum class RowNeed : std::uint8_t { nothing, origin, digest, names, resolved_names, label, payloads, reverse_payloads };

/// Column that depends on more than the record's counters.
struct IdentityColumn {
  std::string_view name, unit;
  ColumnType type;
  IpfixElement ipfix;
  RowNeed needs;
  std::string_view help;
  Value (*read)(const RecordIdentity&);
  std::span<const std::string_view> values = {};  ///< names of 0, 1, ... of an enumeration
};

/// Returns the number of the payload in a column of payloads, from 1.
std::size_t payload_number(const IdentityColumn& column) noexcept;

/// Returns the columns that are added on request, one line each.
std::span<const IdentityColumn> identity_columns() noexcept;

}  // namespace parshall
