// SPDX-License-Identifier: Apache-2.0
#include "engine/recall_watch.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace parshall {
namespace {

constexpr double kLeastShare = 1e-4;
// Measured (lab/docs/reproduce-adaptive.md): histories lack packets for as long as their connections live.
constexpr double kComeBack = 0.1, kLackMore = 0.02, kLackLess = 0.005, kUnsureOfHistory = 0.08;
/// A task that uses a key's share of the traffic keeps its recall under loss, since the share stays. A task that
/// compares with the past also reports false events under loss, which hide how many it misses.
constexpr double kHeavyExponent = 0.1;
constexpr std::array<double, kEventMeasures> kLeastHistoryExponent{2, 1};  ///< by EventMeasure

/// Corrects a recall for missed packets. They are missed in runs, which hit some flows and spare others, so the bound
/// counts three times their share. `unsure` also allows for histories that lack some packets.
Recall with_missed_packets(const Recall& recall, double missed_share, double exponent, double unsure) noexcept {
  constexpr double kInARow = 3;
  return {recall.expected * BlindLoss::recall(exponent, missed_share),
          recall.at_least * std::max(0.0, 1 - std::max(kInARow, exponent) * missed_share - unsure)};
}

/// Returns the share of packets that flow histories lack. Flows that are reduced are mostly the same ones, whose
/// histories no task uses; some come back.
double lacking_now(const FlowsSeen& seen, double missed_share) noexcept {
  const auto packets = static_cast<double>(seen.packets);
  const double away = packets == 0 ? 0 : static_cast<double>(seen.packets_left_out) / packets;
  return std::min(1.0, missed_share + kComeBack * away);
}

/// Returns the recall of a task that only counts, and so misses no flow that it is told of.
std::optional<Recall> of_counts(const WindowTotals& totals) noexcept {
  return totals.untold_flows() == 0 ? std::optional(Recall{}) : std::nullopt;
}

/// Returns true if flows have the weights in these windows that the workers give them.
bool weighs_as_workers_do(WindowLength window) noexcept {
  return window.unit == WindowLength::Unit::ns && window.amount <= 2 * FlowWeight::kSpanNs;
}

/// Returns what the task saw of a window's flows. Their packets are estimated from their weight.
EventsByWeight::Window by_weight(const TaskSet::Member& task, std::uint64_t unlisted_flows) noexcept {
  EventsByWeight::Window window;
  for (std::size_t weight = 0; weight < FlowWeight::kClasses; ++weight) {
    const double packets = 1 / FlowWeight::kFlowsPerPacket[weight];
    window.seen_flows[weight] = static_cast<double>(task.seen.wholly[weight]);
    window.flows[weight] = static_cast<double>(task.seen.wholly[weight] + task.seen.partly[weight] +
                                               task.seen.not_at_all[weight] + (weight == 0 ? unlisted_flows : 0));
    window.seen_packets[weight] = packets * window.seen_flows[weight];
    window.packets[weight] = packets * window.flows[weight];
    window.seen_events[static_cast<std::size_t>(EventMeasure::flows)][weight] =
        static_cast<double>(task.found[weight] - task.found_in_part[weight]);
    window.seen_events[static_cast<std::size_t>(EventMeasure::each)][weight] =
        static_cast<double>(task.each_found[weight]);
  }
  return window;
}

/// Adds which share of the flows of each weight the task followed, where there were any.
void add_followed(const FlowsSeen& flows, std::vector<EventValue>& values) {
  for (std::size_t weight = 0; weight < FlowWeight::kClasses; ++weight) {
    const auto wholly = static_cast<double>(flows.wholly[weight]),
               others = static_cast<double>(flows.partly[weight] + flows.not_at_all[weight]);
    if (wholly + others > 0) values.push_back({followed_from(weight), wholly / (wholly + others)});
  }
}

std::uint64_t sum_of(const RecallByWeight::Counts& counts) noexcept {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

}  // namespace

RecallWatch::RecallWatch(const TaskSet& tasks, std::shared_ptr<RecallBoard> board) : board_(std::move(board)) {
  if (!board_) return;
  for (std::size_t i = 0; i < tasks.members().size(); ++i) {
    const TaskSet::Member& task = tasks.members()[i];
    std::optional<std::size_t> place;
    for (std::size_t at = 0; at < board_->size(); ++at)
      if ((*board_)[at].name == task.name) place = at;
    const BlindLoss blind(task.finds_shares ? kHeavyExponent : BlindLoss::kUnknown);
    if (place || task.finds_any)
      watched_.push_back({.task = i,
                          .board = place,
                          .estimator = {},
                          .events = {},
                          .blind = {blind, blind},
                          .summary = {.threshold = task.recall}});
  }
}

double RecallWatch::loss_exponent(const TaskSet::Member& task, const Watched& watched, EventMeasure measure) noexcept {
  const auto number = static_cast<std::size_t>(measure);
  return std::max(task.has_history ? kLeastHistoryExponent[number] : 0, watched.blind[number].exponent());
}

/// Returns the recall of a task that uses measures. A flow seen in part counts as missed, since what it may have shown
/// in the rest is unknown.
std::optional<Recall> RecallWatch::of_measures(const TaskSet::Member& task, const EventWindow& window,
                                               Watched& watched) const {
  RecallByWeight::Counts missed{};
  for (std::size_t weight = 0; weight < missed.size(); ++weight)
    missed[weight] = task.seen.not_at_all[weight] + task.seen.partly[weight];
  missed[0] += window.totals.unlisted_flows;
  watched.estimator.add_window(task.seen.wholly, task.found, task.found_in_part);
  watched.events.add_window(by_weight(task, window.totals.unlisted_flows), task.counts_events);
  const std::optional<Recall> recall = watched.estimator.recall(missed);
  if (!task.finds_shares && recall && recall->expected > 0)
    for (std::size_t measure = 0; measure < kEventMeasures; ++measure)
      watched.blind[measure].add_window(
          static_cast<double>(sum_of(measure == 0 ? task.found : task.each_found)) / recall->expected,
          window.totals.packets, window.totals.missed_packets);
  board_->put(*watched.board, {.recall = recall ? recall->expected : 0,
                               .knows_weights = weighs_as_workers_do(window.length),
                               .flows = watched.events.flows(),
                               .events = watched.events.events(),
                               .loss_exponent = {loss_exponent(task, watched, EventMeasure::flows),
                                                 loss_exponent(task, watched, EventMeasure::each)}});
  return recall;
}

void RecallWatch::end_window(const TaskSet& tasks, const EventWindow& window, EventQueue& events) {
  const WindowTotals& totals = window.totals;
  const auto packets = static_cast<double>(totals.packets + totals.missed_packets);
  const double missed_now = packets > 0 ? static_cast<double>(totals.missed_packets) / packets : 0;
  missed_share_ = std::max(missed_now, missed_share_ / 2 < kLeastShare ? 0 : missed_share_ / 2);  // flows lack them for
                                                                                                  // longer
  for (Watched& watched : watched_) {
    const TaskSet::Member& task = tasks.members()[watched.task];
    std::optional<Recall> recall = watched.board ? of_measures(task, window, watched) : of_counts(totals);
    if (task.has_history) {
      const double more = lacking_now(task.seen, missed_now) - watched.lacking;
      watched.lacking += (more > 0 ? kLackMore : kLackLess) * more;
    }
    const bool is_unsure = task.has_history && watched.lacking > kLeastShare;
    if (recall)
      *recall =
          with_missed_packets(*recall, std::max(missed_share_, watched.lacking),
                              loss_exponent(task, watched, EventMeasure::flows), is_unsure ? kUnsureOfHistory : 0);
    const bool shows_events = sum_of(task.found) != 0 || !recall || recall->expected < 1;
    const FlowsSeen& flows = task.seen;
    const std::uint64_t seen = sum_of(flows.wholly) + sum_of(flows.partly);
    const std::uint64_t missed = sum_of(flows.not_at_all) + sum_of(flows.partly) + totals.unlisted_flows;
    if (board_->windows) tell(task, window, recall, missed);
    RecallSummary& summary = watched.summary;
    ++summary.windows;
    const bool is_incomplete = missed != 0 || missed_share_ != 0 || is_unsure;
    summary.incomplete += is_incomplete;
    summary.unknown += !recall;
    std::vector<EventValue> values{
        {"flows_seen", seen}, {"flows_missed", missed}, {"packets_missed", totals.missed_packets}};
    if (totals.unlisted_flows != 0) values.push_back({"flows_without_room", totals.unlisted_flows});
    if (recall) {
      watched.sum += recall->expected;
      summary.below += recall->expected < task.recall;
      summary.least = std::min(summary.least, recall->at_least);
      values.insert(
          values.begin(),
          {{"recall", recall->expected}, {"recall_at_least", recall->at_least}, {"recall_wanted", task.recall}});
    }
    if (weighs_as_workers_do(window.length)) add_followed(flows, values);
    if (is_incomplete && shows_events)
      events.put({task.name, window, nullptr, {}, std::move(values), {{"confidence", 0.95}}, EventKind::recall});
  }
}

void RecallWatch::tell(const TaskSet::Member& task, const EventWindow& window, const std::optional<Recall>& recall,
                       std::uint64_t missed_flows) const {
  WindowRecall told{.task = task.name,
                    .window = window,
                    .threshold = task.recall,
                    .recall = std::nullopt,
                    .at_least = std::nullopt,
                    .flows_seen = sum_of(task.seen.wholly) + sum_of(task.seen.partly),
                    .flows_missed = missed_flows,
                    .flows_seen_in_part = sum_of(task.seen.partly),
                    .packets = task.seen.packets,
                    .packets_left_out = task.seen.packets_left_out};
  if (recall) {
    told.recall = recall->expected;
    told.at_least = recall->at_least;
  }
  board_->windows->put(std::move(told));
}

std::optional<RecallSummary> RecallWatch::summary(std::size_t task) const {
  const auto watched = std::ranges::find(watched_, task, &Watched::task);
  if (watched == watched_.end()) return std::nullopt;
  RecallSummary summary = watched->summary;
  if (const std::uint64_t known = summary.windows - summary.unknown; known != 0)
    summary.mean = watched->sum / static_cast<double>(known);
  return summary;
}

}  // namespace parshall
