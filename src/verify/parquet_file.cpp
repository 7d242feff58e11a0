// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <string>

#include "parquet/layout.hpp"
#include "parquet/values.hpp"
#include "verify/exported_file.hpp"

namespace parshall {
namespace {

/// Reads all pages of a column, and adds up its packets if it has any. Returns what is wrong, if anything.
std::string add_packets(Bytes file, const ParquetPlace& place, std::uint64_t& packets) {
  const bool may_be_absent = place.column == "reverse_packets";
  if (place.column != "packets" && !may_be_absent)
    return visit_pages(file, place, [](const ParquetPage&, Bytes) { return true; });
  return visit_pages(file, place, [&](const ParquetPage& page, Bytes raw) {
    if (page.kind != ParquetPage::kData) return true;
    ByteReader reader(raw);
    if (may_be_absent) reader.take(read_little(reader));
    const auto most = static_cast<std::uint64_t>(page.values);
    const auto numbers = page.encoding == ParquetPage::kDelta ? read_deltas(reader, most) : std::nullopt;
    if (!numbers || (!may_be_absent && numbers->size() != most)) return false;
    packets = std::accumulate(numbers->begin(), numbers->end(), packets);
    return true;
  });
}

std::optional<std::uint64_t> number_of(const ParquetFooter& footer, const std::string& name) {
  const auto at = footer.metadata.find("parshall." + name);
  if (at == footer.metadata.end()) return std::nullopt;
  std::uint64_t number = 0;
  const char* const end = at->second.data() + at->second.size();
  const auto [rest, wrong] = std::from_chars(at->second.data(), end, number);
  if (wrong != std::errc() || rest != end) return std::nullopt;
  return number;
}

std::optional<ExportAccount> account_of(const ParquetFooter& footer) {
  const auto counted = number_of(footer, "counted_in_flows");
  if (!counted) return std::nullopt;
  const auto number = [&](const char* name) { return number_of(footer, name).value_or(0); };
  return ExportAccount{.counted_in_flows = *counted,
                       .packets_offered = number_of(footer, "packets_offered").value_or(*counted),
                       .whole_run = number_of(footer, "whole_run").value_or(1) == 1,
                       .records_written = number("records_written"),
                       .packets_written = number("packets_written"),
                       .records_not_sent = number("records_not_sent"),
                       .packets_not_sent = number("packets_not_sent"),
                       .balanced = number("balanced") == 1};
}

}  // namespace

ExportedFile read_parquet(Bytes file) {
  ParquetFooter footer;
  if (std::string problem = footer.read(file); !problem.empty()) return {.problem = std::move(problem)};
  ExportedFile read{.run = footer.metadata["parshall.run"], .account = account_of(footer)};
  const auto records = number_of(footer, "records"), packets = number_of(footer, "packets");
  read.has_packets = !number_of(footer, "packets_not_in_columns");
  if (!read.account && (!records || (read.has_packets && !packets)))
    return {.problem = "not written by parshall: it does not state its number of records"};
  std::size_t bytes = 0;
  for (const ParquetGroup& group : footer.groups)
    for (const ParquetPlace& place : group.places) {
      bytes += static_cast<std::size_t>(std::max<std::int64_t>(place.packed_bytes, 0));
      if (bytes > file.size()) return {.problem = "its columns overlap"};
      if (auto problem = add_packets(file, place, read.packets); !problem.empty()) read.problem = problem;
    }
  if (read.account) return read;
  read.records = static_cast<std::uint64_t>(footer.rows);
  const std::uint64_t told = read.has_packets ? *packets : read.packets;
  if (read.problem.empty() && (read.records != *records || read.packets != told))
    read.problem = fmt::format("it states {} records with {} packets", *records, told);
  return read;
}

}  // namespace parshall
