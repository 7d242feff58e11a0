// SPDX-License-Identifier: Apache-2.0
#include "monitor/side_file.hpp"

#include <fmt/format.h>

#include "cli/messages.hpp"

namespace parshall::cli {

std::optional<Error> SideFile::open(const std::string& path) {
  if (path.empty()) return std::nullopt;
  auto output = Output::open(path);
  if (!output) return output.error();
  output_ = *std::move(output);
  return std::nullopt;
}

void SideFile::flush() {
  if (!output_) return;
  output_->flush();
  if (!output_->error()) return;
  if (output_->reader_gone()) {
    reader_gone_ = true;
    output_.reset();
    return;
  }
  say("watch", fmt::format("cannot write {}: {}", output_->name(), loss_));
  output_.reset();
  lost_ = true;
}

}  // namespace parshall::cli
