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

class LabelReading;

/// Says what becomes of a file of labels with bad lines.
enum class BadLines : std::uint8_t { skip, refuse };

/// Classes of flows according to an external list, for example from payload inspection or from the hosts themselves.
///
/// The content of a list shows which of the formats in label_formats.hpp it has.
/// A line applies to both directions. Without a capture, it applies to all captures that have no line of their own.
class Labels {
 public:
  Labels() = default;
  Labels(Labels&&) noexcept;
  Labels& operator=(Labels&&) noexcept;
  ~Labels();

  /// Parses a list. `name` is its name in errors. Error: its head is wrong, every line is bad, or a line is bad and
  /// `bad_lines` is refuse.
  static Result<Labels> parse(std::istream& list, const std::string& name, BadLines bad_lines);

  /// Reads a list, and the ssl.log beside it if it is conn.log of Zeek.
  static Result<Labels> read(const std::string& path, BadLines bad_lines);

  /// Adds a flow of a capture; of all captures if `capture` is empty.
  void add(std::string_view capture, const FlowKey& flow, std::string_view class_name);

  /// Returns the flow's class; nullopt if it has none, or if lines contradict each other.
  std::optional<std::string_view> find(std::string_view capture, const FlowKey& flow) const;

  std::size_t size() const noexcept { return classes_.size(); }  ///< flows, counting both directions as one
  std::size_t contradictory() const noexcept { return contradictory_; }
  std::uint64_t bad_lines() const noexcept { return bad_lines_; }   ///< lines that were skipped
  const std::string& warning() const noexcept { return warning_; }  ///< of bad lines; empty if there are none
  const std::string& note() const noexcept { return note_; }        ///< states the format; empty for plain CSV

 private:
  friend LabelReading;

  std::unordered_map<std::string, std::string> classes_;  ///< by capture and flow; empty if lines contradict each other
  std::size_t contradictory_ = 0;
  std::uint64_t bad_lines_ = 0;
  std::string warning_, note_;
};

}  // namespace parshall
