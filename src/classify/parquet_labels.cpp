// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdint>
#include <istream>
#include <vector>

#include "base/machine.hpp"
#include "classify/label_columns.hpp"
#include "classify/label_flow.hpp"
#include "classify/label_formats.hpp"
#include "classify/label_reading.hpp"
#include "parquet/texts.hpp"

namespace parshall {
namespace {

/// Reads all bytes. A file that memory cannot hold is cut.
std::vector<std::uint8_t> all_bytes(std::istream& stream) {
  const std::size_t most = available_bytes() / 2;
  std::vector<std::uint8_t> bytes;
  std::array<char, 1 << 14> piece;
  while (bytes.size() < most) {
    const auto got = stream.rdbuf()->sgetn(piece.data(), piece.size());
    if (got <= 0) break;
    bytes.insert(bytes.end(), piece.begin(), piece.begin() + got);
  }
  return bytes;
}

}  // namespace

Result<Labels> read_parquet_labels(std::istream& parquet, LabelReading& reading) {
  const std::vector<std::uint8_t> bytes = all_bytes(parquet);
  const std::span columns(kLabelColumns);
  std::size_t row_number = 0;
  const std::string problem = read_parquet_texts(
      bytes, columns.first(kCaptureColumn), columns.subspan(kCaptureColumn), [&](std::span<const std::string> row) {
        const auto flow = flow_of(
            {row[kProtocolColumn], row[kSrcIpColumn], row[kSrcPortColumn], row[kDstIpColumn], row[kDstPortColumn]});
        reading.add(++row_number, flow, row[kClassColumn], row[kCaptureColumn]);
        return !reading.ended();
      });
  if (!problem.empty()) return reading.wrong(0, problem);
  return reading.finish("Parquet");
}

}  // namespace parshall
