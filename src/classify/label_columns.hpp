// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <string_view>

namespace parshall {

/// Columns of labels in CSV and Parquet. All but the last are needed.
enum LabelColumn : std::size_t {
  kClassColumn,
  kProtocolColumn,
  kSrcIpColumn,
  kSrcPortColumn,
  kDstIpColumn,
  kDstPortColumn,
  kCaptureColumn,
  kLabelColumnCount
};
inline constexpr std::array<std::string_view, kLabelColumnCount> kLabelColumns{
    "class", "protocol", "src_ip", "src_port", "dst_ip", "dst_port", "capture"};

}  // namespace parshall
