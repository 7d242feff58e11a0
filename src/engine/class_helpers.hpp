// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "base/result.hpp"
#include "engine/threads.hpp"
#include "pipeline/measure/class_jobs.hpp"

namespace parshall {

/// Threads that classify flows for the workers, each through rings of its own.
class ClassHelpers {
 public:
  virtual ~ClassHelpers() = default;

  /// Connects the helpers to all workers, which have class_rings_of() rings each; call it before start().
  virtual void serve(std::span<const ClassJobs* const> workers) = 0;

  /// Starts the threads, pinned to `cores` in rotation, or not pinned if there are none. Error: one cannot be started
  /// or pinned; none runs then.
  virtual std::optional<Error> start(std::span<const unsigned> cores) = 0;
};

/// Returns the number of rings of a worker, such that each worker and each thread has at least one.
std::size_t class_rings_of(std::size_t worker, std::size_t workers, std::size_t threads) noexcept;

using ClassHelpersMaker = std::unique_ptr<ClassHelpers> (*)(std::shared_ptr<const Classifier> classifier,
                                                            std::size_t threads, Waiting waiting);

/// Returns null if the program has no helpers; workers then classify flows themselves.
ClassHelpersMaker class_helpers_maker() noexcept;
void set_class_helpers_maker(ClassHelpersMaker maker) noexcept;

}  // namespace parshall
