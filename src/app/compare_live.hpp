// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "app/interface_pair.hpp"
#include "cli/exit_status.hpp"
#include "compare/report/report.hpp"
#include "web/access.hpp"

namespace parshall::cli {

/// How two interfaces of this host are compared and shown.
struct LiveTaps {
  InterfacePair::Settings pair;
  bool draws = false;  ///< the report on the terminal, each second
  CompareReport report;
  std::string output;
  std::optional<web::Access> web = {};  ///< a page that shows it
};

/// Compares until a signal, the end of the duration, or of an interface; then writes the report. Returns the status;
/// anything but kDone was reported.
ExitStatus compare_live(LiveTaps taps);

}  // namespace parshall::cli
