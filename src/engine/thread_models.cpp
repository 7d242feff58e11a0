// SPDX-License-Identifier: Apache-2.0
#include "engine/thread_models.hpp"

#include <vector>

namespace parshall {
namespace {

std::vector<ThreadModelEntry>& models() {
  static std::vector<ThreadModelEntry> all{
      {"run-to-completion", "one thread per worker does everything", ThreadModel::run_to_completion},
      {"pipeline", "a receive thread, and one per worker behind a ring", ThreadModel::pipeline},
  };
  return all;
}

}  // namespace

std::span<const ThreadModelEntry> thread_models() noexcept { return models(); }

void add_thread_models(std::span<const ThreadModelEntry> more) {
  models().insert(models().end(), more.begin(), more.end());
}

}  // namespace parshall
