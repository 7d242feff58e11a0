// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "pipeline/output/output.hpp"

namespace parshall::cli {

/// A file of lines beside the report, where an option asks for one. One that cannot be written any more does not end
/// the run: that is said once, and what comes then is not written.
class SideFile {
 public:
  /// `loss`: what that means for the user.
  explicit SideFile(std::string_view loss) : loss_(loss) {}

  /// Nothing to do where `path` is empty.
  std::optional<Error> open(const std::string& path);

  bool is_open() const noexcept { return output_ != nullptr; }
  bool lost() const noexcept { return lost_; }
  /// It was standard output, and who read that wants no more: that does end the run.
  bool reader_gone() const noexcept { return reader_gone_; }

  void write(std::string_view text) { output_->write(text); }
  void flush();

 private:
  std::string_view loss_;
  std::unique_ptr<Output> output_;
  bool lost_ = false, reader_gone_ = false;
};

}  // namespace parshall::cli
