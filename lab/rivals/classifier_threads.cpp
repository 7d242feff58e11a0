// SPDX-License-Identifier: Apache-2.0
#include "lab/rivals/classifier_threads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <system_error>

namespace parshall {
namespace {

constexpr std::size_t kJobsAtOnce = 32;

}  // namespace

ClassifierThreads::~ClassifierThreads() { stop(); }

void ClassifierThreads::serve(std::span<const ClassJobs* const> workers) {
  std::size_t thread = 0;
  for (const ClassJobs* const worker : workers)
    for (const auto& ring : worker->rings()) rings_[thread++ % rings_.size()].push_back(ring.get());
}

std::optional<Error> ClassifierThreads::start(std::span<const unsigned> cores) {
  try {
    for (std::size_t i = 0; i < rings_.size(); ++i) threads_.emplace_back([this, i] { run(i); });
  } catch (const std::system_error& refused) {
    stop();
    return Error{
        fmt::format("cannot start {} classifier threads: {}; ask for fewer with --classifiers, or raise "
                    "ulimit -u",
                    rings_.size(), refused.what())};
  }
  for (std::size_t i = 0; i < threads_.size() && !cores.empty(); ++i)
    if (auto error = pin(threads_[i], cores[i % cores.size()])) return stop(), error;
  return std::nullopt;
}

std::vector<std::uint64_t> ClassifierThreads::cpu_ns() noexcept {
  std::vector<std::uint64_t> taken;
  for (std::thread& thread : threads_) taken.push_back(parshall::cpu_ns(thread));
  return taken;
}

void ClassifierThreads::stop() noexcept {
  stop_.store(true, std::memory_order_relaxed);
  for (std::thread& thread : threads_)
    if (thread.joinable()) thread.join();
}

void ClassifierThreads::run(std::size_t index) noexcept {
  name_this_thread("classifier");
  Idle idle(waiting_);
  while (!stop_.load(std::memory_order_relaxed)) {
    std::size_t done = 0;
    for (ClassJobRing* const ring : rings_[index]) done += serve_ring(*ring);
    if (done != 0)
      idle.reset();
    else
      idle.wait();
  }
}

std::size_t ClassifierThreads::serve_ring(ClassJobRing& ring) const noexcept {
  const std::span<const ClassJob> jobs = ring.jobs.readable(kJobsAtOnce);
  if (jobs.empty()) return 0;
  std::array<std::uint16_t, kJobsAtOnce * kMostFirstPackets> sizes;
  std::array<ClassId, kJobsAtOnce> ids;
  const std::size_t packets = classifier_->packets();
  for (std::size_t i = 0; i < jobs.size(); ++i) std::copy_n(jobs[i].sizes.begin(), packets, &sizes[i * packets]);
  classifier_->classify(std::span(sizes).first(jobs.size() * packets), std::span(ids).first(jobs.size()));
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    ClassJob* const verdict = ring.verdicts.stage();
    if (verdict == nullptr) break;
    *verdict = jobs[i];
    verdict->id = ids[i];
  }
  ring.verdicts.flush();
  ring.jobs.release(jobs.size());
  return jobs.size();
}

}  // namespace parshall
