// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/output/outputs.hpp"

namespace parshall::cli {

/// Says what becomes of a run's outputs, each thing once.
class OutputWatch {
 public:
  /// `main` has the results, if any has: what becomes of it is for the caller to say. `main_name` is what the user
  /// calls it. `command` is who speaks.
  OutputWatch(const Outputs& outputs, const ExportQueue* main, std::string main_name, std::string command);

  /// Now and then, and in the end: also at those that came meanwhile.
  void look();

  std::string whom_we_wait_for();

  /// In the end: of outputs that dropped something.
  void tell_account() const;

  /// An output beside the results could not be written.
  bool lost() const noexcept { return lost_; }
  /// One was standard output, and who read that wants no more.
  bool reader_gone() const noexcept { return reader_gone_; }

 private:
  struct Watched {
    std::shared_ptr<const ExportQueue> queue;
    bool said_failed = false, said_dropped = false, said_loss = false, said_left_out = false;
    std::string said = {};  ///< the latest trouble
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
