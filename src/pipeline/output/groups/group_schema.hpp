// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/networks.hpp"
#include "base/result.hpp"
#include "base/service_names.hpp"
#include "pipeline/output/groups/grouping.hpp"
#include "pipeline/output/records/schema.hpp"

namespace parshall {

/// Columns of groups, such as hosts, in place of those of flow records.
class GroupSchema {
 public:
  static constexpr std::string_view kUsualOrder = "wire_bytes";

  /// `flows` are the columns of flow records, among them Grouping::of_column. `names` are the columns wanted; none: all
  /// of them. With `hosts`, a host has a name. Error: a wrong name, or no `local` networks where the grouping needs
  /// them.
  static Result<GroupSchema> make(const Grouping& grouping, Networks local, std::span<const ColumnInfo> flows,
                                  std::span<const std::string> names, std::shared_ptr<const HostNames> hosts = nullptr);

  /// Lists the columns that follow those of the group's key.
  static std::vector<ColumnInfo> common_columns();

  const Grouping& grouping() const noexcept { return *grouping_; }
  std::span<const ColumnInfo> columns() const noexcept { return columns_; }
  /// Returns the names of 0, 1, ... if groups are values of an enumeration.
  const std::vector<std::string>& key_names() const noexcept { return key_names_; }

  /// Returns the text that a flow with these values is grouped by; empty if it has none, or groups are of other things.
  std::string_view text_of(std::span<const Value> values) const noexcept {
    if (!is_of_texts_ || !values[*of_column_].present()) return {};
    return values[*of_column_].as_text();
  }
  bool is_of_texts() const noexcept { return is_of_texts_; }

  /// Returns the name of a host or service, which is valid as long as `room`; empty if it has none, or groups are of
  /// other things.
  std::string_view name_of(const FlowKey& group, std::string& room) const noexcept {
    if (grouping_->is_of_services()) return service_name(group.protocol, group.src_port());
    return hosts_ && group.present() ? hosts_->find(group.src_address(), room) : std::string_view();
  }

  /// Finds the groups of a flow with these values; returns how many.
  std::size_t find(const FlowKey& flow, std::span<const Value> values, std::array<GroupOfFlow, 2>& out) const noexcept;

  /// Reads one value per column. `seconds` is the time that the counts are from, if it is known and above 0. Without
  /// `knows_peers`, their number is absent.
  void read(const Group& group, std::optional<double> seconds, bool knows_peers, std::span<Value> out) const noexcept;

 private:
  enum class Source : std::uint8_t {
    key,
    name,
    place,
    peers,
    flows,
    bytes,
    sent,
    received,
    sent_rate,
    received_rate,
    first,
    last,
  };
  struct Origin {
    Source source;
    std::size_t index = 0;  ///< of the key column; for sent and received, 0: packets, 1: bytes
  };
  struct CommonColumn {
    ColumnInfo column;
    Origin origin;
  };

  static const std::vector<CommonColumn>& common_table();

  void add(ColumnInfo column, Origin origin);
  Value read(const Group& group, const Origin& origin, const ColumnInfo& column, std::optional<double> seconds,
             bool knows_peers) const noexcept;

  const Grouping* grouping_ = nullptr;
  Networks local_;
  std::shared_ptr<const HostNames> hosts_;
  std::optional<std::size_t> of_column_;  ///< index of Grouping::of_column among the columns of flow records
  std::array<std::size_t, 2> of_ends_{};  ///< likewise of Grouping::of_ends
  bool is_of_texts_ = false;
  std::vector<std::string> key_names_;
  std::vector<ColumnInfo> columns_;
  std::vector<Origin> origins_;
};

}  // namespace parshall
