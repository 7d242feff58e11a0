// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "app/compare_report.hpp"
#include "cli/exit_status.hpp"
#include "compare/packet_id.hpp"
#include "pipeline/capture/bpf_filter.hpp"

namespace parshall::cli {

/// How two interfaces of this host are compared.
struct LiveTaps {
  std::string up, down;
  OnTheWay on_the_way = OnTheWay::forwarded;
  std::optional<BpfFilter> filter;
  std::uint64_t longest_ns = 0;   ///< that a packet takes from one to the other
  std::uint64_t duration_ns = 0;  ///< 0: until a signal
  bool draws = false;             ///< the report on the terminal, each second
  CompareReport report;
  std::string output;
};

/// Compares until a signal, the end of the duration, or of an interface; then writes the report. Returns the status;
/// anything but kDone was reported.
ExitStatus compare_live(LiveTaps taps, std::uint64_t id_seed, std::uint64_t flow_seed);

}  // namespace parshall::cli
