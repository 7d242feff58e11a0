// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.hpp"
#include "pipeline/decode/facts.hpp"

namespace parshall {

/// Classes of flows according to an external list, for example from payload inspection or from the hosts themselves.
///
/// The list is CSV. Its first line names the columns, in any order: class, protocol (a number, or tcp, udp, ...),
/// src_ip, src_port, dst_ip, dst_port, and optionally capture, a file name without folders. Other columns are ignored.
/// A line applies to both directions. Without a capture, it applies to all captures that have no line of their own.
class Labels {
 public:
  Labels() = default;
  Labels(Labels&&) noexcept;
  Labels& operator=(Labels&&) noexcept;
  ~Labels();

  /// Parses a list. `name` is its name in errors.
  static Result<Labels> parse(std::istream& csv, const std::string& name);
  static Result<Labels> read(const std::string& path);

  /// Returns the flow's class; nullopt if it has none, or if lines contradict each other.
  std::optional<std::string_view> find(std::string_view capture, const FlowKey& flow) const;

  std::size_t size() const noexcept { return classes_.size(); }  ///< flows, counting both directions as one
  std::size_t contradictory() const noexcept { return contradictory_; }

 private:
  void add(std::string_view capture, const FlowKey& flow, std::string_view class_name);

  std::unordered_map<std::string, std::string> classes_;  ///< by capture and flow; empty if lines contradict each other
  std::size_t contradictory_ = 0;
};

}  // namespace parshall
