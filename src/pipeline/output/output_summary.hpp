// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace parshall {

/// Name of the output that is the report itself.
inline constexpr std::string_view kReportOutput = "report";

/// Account of all that an output was offered: offered = written + unconfirmed + waiting + dropped.
struct OutputSummary {
  struct Sum {
    std::uint64_t records = 0, packets = 0;  ///< flow records, and the packets in them
    std::uint64_t findings = 0;              ///< events, and recall of windows

    friend Sum operator+(const Sum& a, const Sum& b) noexcept {
      return {a.records + b.records, a.packets + b.packets, a.findings + b.findings};
    }
    Sum& operator+=(const Sum& more) noexcept { return *this = *this + more; }
    friend Sum operator-(const Sum& a, const Sum& b) noexcept {
      return {a.records - b.records, a.packets - b.packets, a.findings - b.findings};
    }
    friend bool operator==(const Sum&, const Sum&) = default;
  };
  std::string name;
  bool takes_records = false;
  bool whole_run = true;              ///< true if it existed from the run's beginning to its end
  bool packets_in_columns = true;     ///< true if the columns of its records hold all their packets
  std::vector<std::string> left_out;  ///< columns of records that it cannot represent
  Sum offered, written, dropped;
  Sum unconfirmed;  ///< sent, but may not have arrived, since a connection broke or a host refused some of it
  Sum waiting() const noexcept { return offered - written - unconfirmed - dropped; }
};

}  // namespace parshall
