// SPDX-License-Identifier: Apache-2.0
#include "engine/worker.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <system_error>

#include "engine/arrivals.hpp"

namespace parshall {
namespace {

constexpr std::chrono::microseconds kLeftNap{200};

}  // namespace

Workers::Workers(std::vector<std::unique_ptr<Lane>> lanes, std::vector<std::unique_ptr<FlowStage>> stages,
                 ThreadOptions options, Dealing dealing)
    : lanes_(std::move(lanes)),
      stages_(std::move(stages)),
      stage_clocks_(options.model == ThreadModel::pipeline ? stages_.size() : 0),
      options_(std::move(options)),
      levels_out_((dealing == Dealing::all_to_each || dealing == Dealing::by_flow) && lanes_.size() > 1) {
  for (const auto& lane : lanes_)
    markers_.push_back(
        lane->source().forwarder() == nullptr ? nullptr : std::make_unique<Marker>(options_.marking, lane->batch()));
  if (dealing == Dealing::in_turns)
    turns_.emplace(lanes_.size(), lanes_.front()->batch(), lanes_.front()->front().reads_tcp());
  if (options_.model != ThreadModel::run_to_completion)
    for (std::size_t i = 0; i < stages_.size(); ++i)
      rings_.push_back(std::make_unique<FactsRing>(options_.ring_packets, lanes_[0]->front().reads_tcp()));
}

Workers::~Workers() {
  stop();
  go_.store(true, std::memory_order_release);
  join();
}

void Workers::join() {
  for (std::thread& thread : threads_)
    if (thread.joinable()) thread.join();
}

/// Returns true if all lanes wait or have ended. A lane that ends early, such as that of a file truncated meanwhile,
/// does not block the others.
bool Workers::paused() const noexcept {
  return std::ranges::any_of(lanes_, [](const auto& lane) { return lane->paused(); }) &&
         std::ranges::all_of(lanes_, [](const auto& lane) { return lane->paused() || lane->ended(); }) &&
         std::ranges::all_of(rings_, [](const auto& ring) { return ring->empty(); });
}

void Workers::launch(const char* name, void (Workers::*body)(std::size_t), std::size_t index) {
  running_.fetch_add(1, std::memory_order_relaxed);
  threads_.emplace_back([this, name, body, index] {
    name_this_thread(name);
    while (!go_.load(std::memory_order_acquire)) std::this_thread::yield();
    (this->*body)(index);
    running_.fetch_sub(1, std::memory_order_release);
  });
}

std::optional<Error> Workers::start() {
  std::optional<Error> error;
  try {
    const bool is_pipeline = options_.model == ThreadModel::pipeline;
    if (is_pipeline) launch("receive", &Workers::receive, 0);
    for (std::size_t i = 0; i < stages_.size(); ++i)
      launch(is_pipeline ? "flow" : "worker",
             is_pipeline ? &Workers::run_stage
             : turns_    ? &Workers::work_in_turns
                         : &Workers::work,
             i);
  } catch (const std::system_error& refused) {
    running_.fetch_sub(1);  // launch() counted it
    levels_out_ = false;    // lanes that were never launched must not be waited for
    error = Error{fmt::format("cannot start {} workers: {}; ask for fewer with --workers, or raise ulimit -u",
                              stages_.size(), refused.what())};
  }
  for (std::size_t i = 0; i < threads_.size() && !error; ++i) {
    if (!options_.cores.empty()) error = pin(threads_[i], options_.cores[i % options_.cores.size()]);
    if (!error) error = set_scheduler(threads_[i], options_.scheduler);
  }
  if (error) stop();
  go_.store(true, std::memory_order_release);
  if (error) join();
  return error;
}

/// Lets lanes that read the same input continue to the furthest of them after a stop, so that the report covers one
/// prefix of the input.
void Workers::level_out(std::size_t index, InFlight& staging) {
  if (!levels_out_) return;
  Lane& lane = *lanes_[index];
  std::uint64_t furthest = furthest_.load();
  while (furthest < lane.reached() && !furthest_.compare_exchange_weak(furthest, lane.reached())) {
  }
  stopped_lanes_.fetch_add(1);
  if (!stop_.load()) return;  // this lane ended by itself, so it is the furthest
  while (stopped_lanes_.load() < lanes_.size()) std::this_thread::sleep_for(kLeftNap);
  lane.end_at(furthest_.load());
  while (!lane.done()) process(index, lane.poll(), staging);
}

/// Keeps a worker whose input has ended, at `last_ns`, answering requests while others go on. Then ends the flows that
/// are over at the latest time of all workers.
void Workers::leave(std::size_t index, std::uint64_t last_ns) {
  std::uint64_t latest_ns = latest_ns_.load();
  while (latest_ns < last_ns && !latest_ns_.compare_exchange_weak(latest_ns, last_ns)) {
  }
  left_.fetch_add(1);
  while (left_.load() < stages_.size() && (levels_out_ || !stop_.load(std::memory_order_relaxed))) {
    while (stages_[index]->housekeep({})) {
    }
    std::this_thread::sleep_for(kLeftNap);
  }
  stages_[index]->end_quiet(latest_ns_.load());
}

}  // namespace parshall
