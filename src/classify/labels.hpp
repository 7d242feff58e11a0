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

/// Which class flows are of, by a list that somebody else made: a payload inspection, or the hosts themselves.
///
/// CSV with a first line that names the columns, in any order: class, protocol (a number, or tcp, udp, ...), src_ip,
/// src_port, dst_ip, dst_port, and maybe capture, the name of a file without its folders. Other columns are left alone.
/// A line goes for both directions, and without a capture for all that have none of their own.
class Labels {
 public:
  Labels() = default;
  Labels(Labels&&) noexcept;
  Labels& operator=(Labels&&) noexcept;
  ~Labels();

  /// `name` is what errors call the list.
  static Result<Labels> parse(std::istream& csv, const std::string& name);
  static Result<Labels> read(const std::string& path);

  /// Nothing where there is none, or where lines differ.
  std::optional<std::string_view> find(std::string_view capture, const FlowKey& flow) const;

  std::size_t size() const noexcept { return classes_.size(); }  ///< flows, both directions being one
  std::size_t contradictory() const noexcept { return contradictory_; }

 private:
  void add(std::string_view capture, const FlowKey& flow, std::string_view class_name);

  std::unordered_map<std::string, std::string> classes_;  ///< by capture and flow; empty where lines differ
  std::size_t contradictory_ = 0;
};

}  // namespace parshall
