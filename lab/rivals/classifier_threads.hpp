// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "engine/class_helpers.hpp"

namespace parshall {

/// Threads that classify flows for the workers, each through rings of its own.
///
/// Source: the classification module of Santiago del Rio et al., IMC 2012, which is one thread at the end of one ring.
class ClassifierThreads final : public ClassHelpers {
 public:
  ClassifierThreads(std::shared_ptr<const Classifier> classifier, std::size_t threads, Waiting waiting)
      : classifier_(std::move(classifier)), rings_(threads), waiting_(waiting) {}
  ~ClassifierThreads() override;
  ClassifierThreads(const ClassifierThreads&) = delete;
  ClassifierThreads& operator=(const ClassifierThreads&) = delete;

  void serve(std::span<const ClassJobs* const> workers) override;
  std::optional<Error> start(std::span<const unsigned> cores) override;

  /// Returns the CPU time of each thread so far, between start() and stop().
  std::vector<std::uint64_t> cpu_ns() noexcept;

  /// Stops the threads once the workers have ended; whatever is in the rings stays there.
  void stop() noexcept;

 private:
  void run(std::size_t index) noexcept;
  std::size_t serve_ring(ClassJobRing& ring) const noexcept;

  std::shared_ptr<const Classifier> classifier_;
  std::vector<std::vector<ClassJobRing*>> rings_;  ///< by thread
  Waiting waiting_;
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

}  // namespace parshall
