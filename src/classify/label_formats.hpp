// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <iosfwd>

#include "classify/labels.hpp"

namespace parshall {

/// Reads CSV of RFC 4180. Its first line names the columns, in any order: class, protocol (a number, or tcp, udp, ...),
/// src_ip, src_port, dst_ip, dst_port, and optionally capture, a file name without folders. Other columns are ignored.
Result<Labels> read_csv_labels(std::istream& csv, LabelReading& reading);

}  // namespace parshall
