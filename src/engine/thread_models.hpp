// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string_view>

#include "engine/worker.hpp"

namespace parshall {

/// A thread model by the name `--threads` knows it by.
struct ThreadModelEntry {
  std::string_view name;
  std::string_view help;
  ThreadModel model;

  /// Threads that packets go through.
  std::size_t threads(std::size_t workers) const noexcept { return workers + (model == ThreadModel::pipeline ? 1 : 0); }
};

/// Every one that the program knows, one line each, the default first.
std::span<const ThreadModelEntry> thread_models() noexcept;

/// More of them, from a program that has more: before anything asks.
void add_thread_models(std::span<const ThreadModelEntry> models);

}  // namespace parshall
