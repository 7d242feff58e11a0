// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string_view>

#include "engine/worker.hpp"

namespace parshall {

/// A thread model under its name for `--threads`.
struct ThreadModelEntry {
  std::string_view name;
  std::string_view help;
  ThreadModel model;

  /// Returns the threads that packets pass through.
  std::size_t threads(std::size_t workers) const noexcept { return workers + (model == ThreadModel::pipeline ? 1 : 0); }
};

/// Lists all thread models that the program knows, the default first.
std::span<const ThreadModelEntry> thread_models() noexcept;

/// Adds thread models of another program; call it before any other function.
void add_thread_models(std::span<const ThreadModelEntry> models);

}  // namespace parshall
