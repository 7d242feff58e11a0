// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <istream>
#include <string_view>

#include "classify/label_flow.hpp"
#include "classify/label_formats.hpp"
#include "classify/label_reading.hpp"
#include "classify/text_lines.hpp"

namespace parshall {
namespace {

constexpr std::array<std::string_view, 6> kColumns{"ndpi_proto", "protocol", "src_ip",
                                                   "src_port",   "dst_ip",   "dst_port"};

/// Splits lines, and keeps the cells of kColumns.
class NdpiLines {
 public:
  /// Reads the head. Returns what is wrong with it, if anything.
  std::string read_head(std::string_view head) {
    const auto end = head.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", head.starts_with('#') ? 1 : 0);
    separator_ = end == std::string_view::npos ? '\0' : head[end];
    if (separator_ != ',' && separator_ != '|') return "the columns must be separated by commas or |";
    places_.fill(kNone);
    std::size_t place = 0;
    for_cells(head, [&](std::string_view name) {
      const auto found = std::ranges::find(kColumns, name);
      if (found != kColumns.end()) places_[static_cast<std::size_t>(found - kColumns.begin())] = place;
      ++place;
      return true;
    });
    for (std::size_t column = 0; column < kColumns.size(); ++column)
      if (places_[column] == kNone)
        return fmt::format("the column {} is missing: give the file that ndpiReader -C wrote", kColumns[column]);
    last_ = std::ranges::max(places_);
    return {};
  }

  /// Returns whether the line has all cells that are needed.
  bool read(std::string_view line) {
    std::size_t place = 0;
    for_cells(line, [&](std::string_view text) {
      for (std::size_t column = 0; column < kColumns.size(); ++column)
        if (places_[column] == place) cells_[column] = text;
      return place++ < last_;
    });
    return place > last_;
  }

  const std::array<std::string, kColumns.size()>& cells() const noexcept { return cells_; }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};

  template <class Use>
  void for_cells(std::string_view line, const Use& use) const {
    for (;;) {
      const auto end = line.find(separator_);
      if (!use(line.substr(0, end)) || end == std::string_view::npos) return;
      line.remove_prefix(end + 1);
    }
  }

  char separator_ = ',';
  std::array<std::size_t, kColumns.size()> places_{};
  std::size_t last_ = 0;
  std::array<std::string, kColumns.size()> cells_;
};

}  // namespace

std::string ndpi_class(std::string_view name) {
  constexpr std::string_view kLookUps[] = {"DNS", "MDNS", "LLMNR", "DoH_DoT", "ICMP", "ICMPV6", "NTP"};
  if (name == "Unknown") return {};
  const auto protocol = name.substr(0, name.find('.'));
  const bool is_look_up = std::ranges::find(kLookUps, protocol) != std::end(kLookUps);
  return std::string(is_look_up ? protocol : name.substr(name.rfind('.') + 1));
}

Result<Labels> read_ndpi_labels(std::istream& csv, LabelReading& reading) {
  TextLines lines(*csv.rdbuf());
  NdpiLines columns;
  while (!reading.ended() && lines.next()) {
    if (lines.text().starts_with('#')) {  // also in the middle, where files were joined
      if (const std::string problem = columns.read_head(lines.text()); !problem.empty())
        return reading.wrong(lines.line(), problem);
      continue;
    }
    if (!columns.read(lines.text())) {
      reading.refuse(lines.line(), "it has fewer cells than the first line");
      continue;
    }
    const auto& [name, protocol, src_ip, src_port, dst_ip, dst_port] = columns.cells();
    const std::string class_name = ndpi_class(name);
    if (class_name.empty())
      reading.add_unnamed();
    else
      reading.add(lines.line(), flow_of({protocol, src_ip, src_port, dst_ip, dst_port}), class_name);
  }
  if (lines.failed()) return reading.wrong(lines.line(), LabelReading::kUnreadable);
  return reading.finish("of ndpiReader");
}

}  // namespace parshall
