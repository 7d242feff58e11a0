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

/// Threads that tell classes for workers, each by rings of its own.
class ClassHelpers {
 public:
  virtual ~ClassHelpers() = default;

  /// Of all workers, before start(), with rings_of() each.
  virtual void serve(std::span<const ClassJobs* const> workers) = 0;

  /// `cores`: to pin them to, in turn; none: not pinned. What cannot be started or pinned is an error, and none runs.
  virtual std::optional<Error> start(std::span<const unsigned> cores) = 0;
};

/// How many rings the worker has, so that each of the workers has one and each of the threads.
std::size_t class_rings_of(std::size_t worker, std::size_t workers, std::size_t threads) noexcept;

using ClassHelpersMaker = std::unique_ptr<ClassHelpers> (*)(std::shared_ptr<const Classifier> classifier,
                                                            std::size_t threads, Waiting waiting);

/// Null where the program has none: then workers tell classes themselves.
ClassHelpersMaker class_helpers_maker() noexcept;
void set_class_helpers_maker(ClassHelpersMaker maker) noexcept;

}  // namespace parshall
