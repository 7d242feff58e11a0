// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/labels/labeller.hpp"

#include <netinet/in.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <new>
#include <span>
#include <utility>

namespace parshall {
namespace {

/// Reduces the lengths in the headers of a packet to what is there of it. An inspector may refuse it otherwise.
void fit_lengths(std::span<std::uint8_t> packet) noexcept {
  constexpr std::size_t kIpv4Bytes = 20, kIpv6Bytes = 40, kUdpBytes = 8;
  const auto fit = [&](std::size_t at, std::size_t bytes) {
    const std::size_t said = static_cast<std::size_t>(packet[at]) << 8 | packet[at + 1];
    if (said != 0 && said <= bytes) return;
    packet[at] = static_cast<std::uint8_t>(bytes >> 8);
    packet[at + 1] = static_cast<std::uint8_t>(bytes);
  };
  if (packet.size() < kIpv4Bytes) return;
  const bool is_ipv4 = packet[0] >> 4 == 4;
  if (!is_ipv4 && packet.size() < kIpv6Bytes) return;
  const std::size_t header = is_ipv4 ? (packet[0] & 15) * std::size_t{4} : kIpv6Bytes;
  if (is_ipv4)
    fit(2, packet.size());
  else
    fit(4, packet.size() - kIpv6Bytes);
  if (packet[is_ipv4 ? 9 : 6] == IPPROTO_UDP && packet.size() >= header + kUdpBytes)
    fit(header + 4, packet.size() - header);
}

}  // namespace

Labeller::Labeller(std::unique_ptr<Inspector> inspector, std::uint64_t one_in)
    : inspector_(std::move(inspector)), one_in_(one_in) {
  names_.emplace_back();
}

Labeller::~Labeller() {
  thread_ = {};  // before what it uses
  opened_.clear();
}

void Labeller::start() {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

LabelFeed& Labeller::add_feed(bool can_wait) {
  const std::lock_guard lock(mutex_);
  return feeds_.emplace_back(can_wait);
}

void Labeller::run(const std::stop_token& stop) {
  constexpr unsigned kIdleTurns = 1000;
  constexpr std::chrono::milliseconds kNap{1};
  for (unsigned idle = 0; !stop.stop_requested();) {
    idle = label_some() ? 0 : idle + 1;
    if (idle > kIdleTurns)
      std::this_thread::sleep_for(kNap);
    else if (idle != 0)
      std::this_thread::yield();
  }
}

/// Labels what waits in the feeds. Returns whether there was anything.
bool Labeller::label_some() {
  constexpr std::size_t kBatch = 32;
  {
    const std::lock_guard lock(mutex_);
    while (served_.size() < feeds_.size()) served_.push_back(&feeds_[served_.size()]);
  }
  bool found = false;
  for (LabelFeed* const feed : served_) {
    const std::span<LabelJob> jobs = feed->ring().readable(kBatch);
    for (LabelJob& job : jobs) label(job);
    feed->ring().release(jobs.size());
    found |= !jobs.empty();
  }
  return found;
}

/// Labels a packet's connection. Without memory, the packet is not inspected.
void Labeller::label(LabelJob& job) try {
  {
    const std::lock_guard lock(mutex_);
    const Known* const known = connection_of(job);
    if (job.is_syn || known == nullptr || known->is_done) return;
  }
  fit_lengths(std::span(job.packet).first(job.bytes));
  inspect(job);
} catch (const std::bad_alloc&) {
  given_up_.fetch_add(1, std::memory_order_relaxed);
}

/// Returns the connection that a packet is of, which may begin with it; null for one of which only a SYN is known.
Labeller::Known* Labeller::connection_of(const LabelJob& job) {
  const auto found = known_.find(job.connection);
  if (found == known_.end() && job.is_syn) return nullptr;  // it is remembered once there is something to inspect
  if (found == known_.end()) {
    Remembered& remembered = known_[job.connection];
    remembered.count = 1;
    remembered.all[0] = {.began_ns = job.time_ns, .latest_ns = job.time_ns};
    in_turn_.push_back(job.connection);
    if (in_turn_.size() > kMostLabels) {
      known_.erase(in_turn_.front());
      in_turn_.pop_front();
    }
    return &remembered.all[0];
  }
  Remembered& remembered = found->second;
  Known& latest = remembered.all[0];
  const bool is_other_syn = job.is_syn && !(latest.has_syn && latest.syn_seq == job.syn_seq);
  const bool was_quiet = (job.is_syn || !job.is_tcp) && job.time_ns > latest.latest_ns + kQuietNs;
  if (is_other_syn || was_quiet) {
    if (const auto at = open_by_hash_.find(job.connection); at != open_by_hash_.end()) close(at->second);
    std::shift_right(remembered.all.begin(), remembered.all.end(), 1);
    remembered.count = std::min(remembered.count + 1, remembered.all.size());
    latest = {.began_ns = job.time_ns, .latest_ns = job.time_ns, .syn_seq = job.syn_seq, .has_syn = job.is_syn};
  }
  latest.latest_ns = std::max(latest.latest_ns, job.time_ns);
  return &latest;
}

void Labeller::inspect(const LabelJob& job) {
  Open& connection = open(job.connection);
  packets_.fetch_add(1, std::memory_order_relaxed);
  const Inspected found = connection.inspection->read(std::span(job.packet).first(job.bytes), job.time_ns);
  const bool is_done = found.is_final || ++connection.packets == kMostPackets;
  const std::lock_guard lock(mutex_);
  Known& known = known_.at(job.connection).all[0];
  if (found.basis != LabelBasis::none) {
    known.label = {number_of(found.application), found.class_number, found.basis};
    if (!std::exchange(known.is_labelled, true)) labelled_.fetch_add(1, std::memory_order_relaxed);
  }
  known.is_done = is_done;
  if (is_done) close(opened_.begin());
}

/// Returns the connection under inspection, now the first of all.
Labeller::Open& Labeller::open(std::uint64_t hash) {
  if (const auto at = open_by_hash_.find(hash); at != open_by_hash_.end()) {
    opened_.splice(opened_.begin(), opened_, at->second);
    return opened_.front();
  }
  if (opened_.size() == kMostOpen) {
    const std::lock_guard lock(mutex_);
    if (const auto at = known_.find(opened_.back().hash); at != known_.end()) at->second.all[0].is_done = true;
    given_up_.fetch_add(1, std::memory_order_relaxed);
    close(std::prev(opened_.end()));
  }
  auto inspection = inspector_->begin();
  open_by_hash_.reserve(opened_.size() + 1);
  opened_.push_front({.hash = hash, .packets = 0, .inspection = std::move(inspection)});
  open_by_hash_.emplace(hash, opened_.begin());
  connections_.fetch_add(1, std::memory_order_relaxed);
  return opened_.front();
}

void Labeller::close(Opened::iterator at) noexcept {
  open_by_hash_.erase(at->hash);
  opened_.erase(at);
}

std::uint32_t Labeller::number_of(const std::string& application) {
  const auto [at, is_new] = numbers_.try_emplace(application, static_cast<std::uint32_t>(names_.size()));
  if (is_new) names_.push_back(application);
  return at->second;
}

ApplicationLabel Labeller::find(std::uint64_t connection, std::uint64_t began_ns) const noexcept {
  const std::lock_guard lock(mutex_);
  const auto at = known_.find(connection);
  if (at == known_.end()) return {};
  const std::span known = std::span(at->second.all).first(at->second.count);
  const auto of = std::ranges::find_if(known, [&](const Known& each) { return each.began_ns <= began_ns; });
  return of == known.end() ? known.back().label : of->label;
}

std::string_view Labeller::name(std::uint32_t application) const noexcept {
  const std::lock_guard lock(mutex_);
  return application < names_.size() ? std::string_view(names_[application]) : std::string_view();
}

LabelCounts Labeller::counts() const noexcept {
  LabelCounts counts{.connections = connections_.load(std::memory_order_relaxed),
                     .labelled = labelled_.load(std::memory_order_relaxed),
                     .given_up = given_up_.load(std::memory_order_relaxed),
                     .packets = packets_.load(std::memory_order_relaxed)};
  const std::lock_guard lock(mutex_);
  for (const LabelFeed& feed : feeds_) counts.dropped += feed.dropped();
  return counts;
}

void Labeller::settle() const noexcept {
  const auto is_behind = [this] {
    const std::lock_guard lock(mutex_);
    return std::ranges::any_of(feeds_, [](const LabelFeed& feed) { return feed.can_wait() && !feed.ring().empty(); });
  };
  while (is_behind()) std::this_thread::yield();
}

}  // namespace parshall
