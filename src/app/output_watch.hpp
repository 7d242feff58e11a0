// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/output/outputs.hpp"

namespace parshall::cli {

/// Reports the state of a run's outputs, each event once.
class OutputWatch {
 public:
  /// `main` is the output with the results, if there is one; the caller reports its state. `main_name` is the user's
  /// name for it. `command` is the name in messages.
  OutputWatch(const Outputs& outputs, const ExportQueue* main, std::string main_name, std::string command);

  /// Checks all outputs, including those added since; call it regularly and at the end.
  void look();

  std::string whom_we_wait_for();

  /// Reports outputs that dropped something; call it at the end.
  void tell_account() const;

  /// Returns true if an output beside the results could not be written.
  bool lost() const noexcept { return lost_; }
  /// Returns true if an output was standard output and its reader has gone.
  bool reader_gone() const noexcept { return reader_gone_; }

 private:
  struct Watched {
    std::shared_ptr<const ExportQueue> queue;
    bool said_failed = false, said_dropped = false, said_loss = false, said_left_out = false;
    std::string said = {};  ///< latest trouble that was reported
    std::optional<std::chrono::steady_clock::time_point> said_trouble = {};
    std::chrono::steady_clock::time_point seen_trouble{};
    bool is_over = true;
  };

  void follow();
  void tell_trouble(Watched& watched);
  const std::string& name_of(const ExportQueue& queue) const noexcept;

  const Outputs& outputs_;
  const ExportQueue* main_;
  std::string main_name_, command_;
  std::vector<Watched> watched_;
  bool lost_ = false, reader_gone_ = false;
};

}  // namespace parshall::cli
