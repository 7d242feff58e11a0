// SPDX-License-Identifier: Apache-2.0
#include "classify/sample_csv.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <istream>
#include <limits>
#include <optional>
#include <ostream>
#include <string_view>
#include <utility>

#include "classify/csv_records.hpp"

namespace parshall {
namespace {

std::optional<std::uint32_t> whole_number(std::string_view text, std::uint32_t most) {
  std::uint32_t number = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (wrong != std::errc() || end != text.data() + text.size() || number > most) return std::nullopt;
  return number;
}

/// Reads a file of samples and reports the first error.
class Reader {
 public:
  Reader(std::istream& csv, const std::string& name) : records_(csv, kMostFirstPackets + 3), name_(name) {}

  Result<SampleFile> read() {
    const bool has_head = records_.next();
    if (!records_.problem().empty()) return wrong(records_.problem());
    if (!has_head || !read_header())
      return wrong(fmt::format(
          "the first line must be class,capture,size_1,...,size_N with N from 1 to {}, and optionally ,fold",
          kMostFirstPackets));
    while (records_.next())
      if (const auto problem = read_flow()) return wrong(*problem);
    if (!records_.problem().empty()) return wrong(records_.problem());
    return std::move(file_);
  }

 private:
  Error wrong(const std::string& what) const { return {fmt::format("{}, line {}: {}", name_, records_.line(), what)}; }

  bool read_header() {
    const auto cells = records_.cells();
    has_folds_ = cells.back() == "fold";
    const std::size_t others = has_folds_ ? 3 : 2;
    if (cells.size() <= others || cells.size() - others > kMostFirstPackets) return false;
    sizes_.resize(cells.size() - others);
    file_.samples.packets = sizes_.size();
    for (std::size_t packet = 0; packet < sizes_.size(); ++packet)
      if (cells[2 + packet] != fmt::format("size_{}", packet + 1)) return false;
    return cells[0] == "class" && cells[1] == "capture";
  }

  /// Reads a flow. Returns what is wrong with it, if anything.
  std::optional<std::string> read_flow() {
    const auto cells = records_.cells();
    const std::size_t wanted = 2 + sizes_.size() + (has_folds_ ? 1 : 0);
    if (cells.size() != wanted)
      return fmt::format("there are {} cells, but {} in the first line", cells.size(), wanted);
    if (cells[0].empty()) return "the class is empty: name it";
    if (cells[1].empty()) return "the capture is empty: name it";
    for (std::size_t packet = 0; packet < sizes_.size(); ++packet) {
      const std::string& cell = cells[2 + packet];
      const auto size = cell.empty() ? Samples::kMissing : whole_number(cell, 65535);
      if (!size || (!cell.empty() && *size == 0))
        return fmt::format("size_{} is {}: it must be a whole number from 1 to 65535, or empty", packet + 1, cell);
      sizes_[packet] = static_cast<std::uint16_t>(*size);
    }
    if (has_folds_) {
      const auto fold = whole_number(cells.back(), std::numeric_limits<std::uint32_t>::max());
      if (!fold) return fmt::format("fold is {}: it must be a whole number", cells.back());
      file_.folds.push_back(*fold);
    }
    file_.samples.add(sizes_, cells[0], cells[1]);
    if (file_.samples.class_names.size() > kMostClasses)
      return fmt::format("there are more than {} classes: is the first column the class?", kMostClasses);
    return std::nullopt;
  }

  CsvRecords records_;
  const std::string& name_;
  SampleFile file_;
  std::vector<std::uint16_t> sizes_;
  bool has_folds_ = false;
};

Error failed(const std::string& name) {
  return {fmt::format("cannot read samples from {}: {}", name, std::strerror(errno))};
}

}  // namespace

Result<SampleFile> parse_samples(std::istream& csv, const std::string& name) { return Reader(csv, name).read(); }

Result<SampleFile> read_samples(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return file ? parse_samples(file, path) : failed(path);
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string cell = "\"";
  for (const char c : text) {
    if (c == '"') cell += c;
    cell += c;
  }
  return cell + '"';
}

void write_samples(std::ostream& csv, const Samples& samples, std::span<const std::uint32_t> folds) {
  csv << "class,capture";
  for (std::size_t packet = 1; packet <= samples.packets; ++packet) csv << ",size_" << packet;
  csv << (folds.empty() ? "\n" : ",fold\n");
  for (std::size_t flow = 0; flow < samples.size(); ++flow) {
    csv << csv_cell(samples.class_names[samples.classes[flow]]) << ','
        << csv_cell(samples.capture_names[samples.captures[flow]]);
    for (const std::uint16_t size : samples.sizes_of(flow))
      csv << ',' << (size == Samples::kMissing ? "" : std::to_string(size));
    if (!folds.empty()) csv << ',' << folds[flow];
    csv << '\n';
  }
}

}  // namespace parshall
