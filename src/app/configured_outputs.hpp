// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "parshall/plan.hpp"
#include "parshall/run.hpp"

namespace parshall::cli {

/// Applies changes to the [[export]] tables of a configuration while a run goes on; SIGHUP makes it read the file
/// again. New outputs are opened and removed ones finished; all others continue undisturbed.
class ConfiguredOutputs {
 public:
  /// `plan` is the run's, and `command` is the name in messages. Without a configuration file, SIGHUP still asks for a
  /// stop. `is_held`: a sandbox is in force, which may be the reason that an output cannot be opened.
  ConfiguredOutputs(Run& run, const Plan& plan, std::string command, bool is_held);

  /// Checks for SIGHUP; call it regularly. Calls `reloading(true)` before reading the configuration and
  /// `reloading(false)` after that. Calls `meanwhile()` before opening or finishing each output, which may take
  /// seconds; if it returns false, the rest is left as it is.
  void look(const std::function<void(bool)>& reloading, const std::function<bool()>& meanwhile);

 private:
  void reload(const std::function<bool()>& meanwhile);
  bool open(const OutputPlan& output);  ///< false: failed with a message
  void finish(const OutputPlan& output);

  Run& run_;
  Plan plan_;
  std::string command_;
  bool is_held_;
  std::vector<OutputPlan> others_, configured_;  ///< outputs of the plan: from the command line, and from the file
};

}  // namespace parshall::cli
