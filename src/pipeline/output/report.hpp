// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "pipeline/capture/interface_packets.hpp"
#include "pipeline/flow/identity.hpp"
#include "pipeline/flow/record.hpp"
#include "pipeline/measure/class_jobs.hpp"
#include "pipeline/measure/tasks/event.hpp"
#include "pipeline/measure/tasks/finding_list.hpp"
#include "pipeline/output/accounting.hpp"
#include "pipeline/output/monitor_counts.hpp"
#include "pipeline/output/output_summary.hpp"
#include "pipeline/output/schema.hpp"

namespace parshall {

/// One worker (a core, a queue, a table) in a report.
struct WorkerSummary {
  Accounting accounting;
  double busy_share = 0;  ///< of the time since the report before, in [0, 1]
};

/// A lane of the receive thread in front of the workers, in a report: the account is of the packets that went no
/// further, so that receivers and workers together have each packet once.
struct ReceiverSummary : WorkerSummary {
  std::uint64_t handed_over = 0;
};

/// How much of what there was a task found, by estimate.
struct RecallSummary {
  double threshold = 0;
  std::uint64_t windows = 0;
  std::uint64_t incomplete = 0;  ///< of these: it did not see all of its flows
  std::uint64_t unknown = 0;     ///< of these: no flow in any of the last ones
  std::uint64_t below = 0;       ///< by estimate, the threshold
  double mean = 1;               ///< of all windows that are known
  double least = 1;              ///< bound of 95 % in the worst window
};

/// What a task found of one window, by estimate, where flows give way to lighter states.
struct WindowRecall {
  std::string task;
  EventWindow window;
  double threshold = 0;
  std::optional<double> recall, at_least;  ///< the estimate, and the bound of 95 %; unknown where no flow tells
  std::uint64_t flows_seen = 0, flows_missed = 0;
  std::uint64_t flows_seen_in_part = 0;              ///< which are in both of these
  std::uint64_t packets = 0, packets_given_way = 0;  ///< of the task's flows; of these, of flows it did not see wholly
};

inline std::size_t heap_bytes(const WindowRecall& told) noexcept { return heap_bytes(told.task); }

/// What came of a task, in a final report.
struct TaskSummary {
  std::string name;
  std::uint64_t events = 0;
  std::uint64_t dropped = 0;        ///< events beyond what a window may have
  std::uint64_t keys_left_out = 0;  ///< for want of room, window by window
  std::optional<RecallSummary> recall;
};

/// For how long a task gave way, and was not to have the recall that it wants.
struct GivenUp {
  std::string task;
  double seconds = 0;   ///< of all workers together
  bool is_now = false;  ///< by a worker
};

/// How much of the time which flows gave way to lighter states.
struct AdaptationSummary {
  std::string mode;                   ///< "no-adapt", "adapt-only" or "accuracy"
  double seconds = 0;                 ///< of all workers together
  double shifted_s = 0;               ///< of these, flows gave way
  std::uint64_t windows = 0;          ///< in which something was decided
  std::uint64_t infeasible = 0;       ///< of these: all gave way, and it was not enough
  double shed_s = 0;                  ///< of the seconds, only some flows were looked at
  std::uint64_t one_in = 1;           ///< then, of so many connections, one at least
  double overhead_share = 0;          ///< of the time, that deciding took
  double longest_us = 0;              ///< that deciding took once
  double residual = 0;                ///< of the cost model, of what packets took, in the end
  std::vector<GivenUp> given_up;      ///< where tasks give way one by one: each that was
  double looks_again_in_s = 0;        ///< whether there is time for them again, if the load does not fall before
  double blind_satisfies_more_s = 0;  ///< of the seconds: more tasks would have had enough, had nothing given way
};

/// The flood filter of all workers together.
struct FloodFilterSummary {
  std::uint32_t bytes = 0;  ///< that a flow had to show
  double seconds = 0;       ///< of packet time
  double on_s = 0;          ///< of these, it was on
};

/// Where a worker's or the analyst's time goes.
struct CostSummary {
  std::string what;
  double ns_per_packet = 0;
};

/// A monitoring state.
struct StateSummary {
  std::string name;
  std::uint64_t packets = 0;  ///< of flows while they were in it
  std::uint64_t kept = 0;     ///< of these: while the flow did not give way to a lighter state
};

/// Flows of one class.
struct ClassSummary {
  std::string name;  ///< "unknown", or "too few packets", for those that have none
  ClassCounts counts;
};

/// Threads that told classes instead of the workers.
struct ClassifierSummary {
  std::size_t threads = 0;
  ClassJobCounts jobs;
};

/// How packets of one class are marked that go on.
struct MarkSummary {
  std::string class_name;
  std::optional<std::uint8_t> dscp;  ///< nothing: they keep what they came with
  std::uint64_t packets = 0;
};

/// What became of packets that were to go on. In the final report offered is what was polled.
struct ForwardingSummary {
  std::uint64_t offered = 0, sent = 0;
  std::uint64_t too_long = 0;  ///< for the other device, or cut when they came
  std::uint64_t refused = 0;   ///< by the other device: its queue was full, or it was down
  std::vector<MarkSummary> marks;

  std::uint64_t not_sent() const noexcept { return too_long + refused; }
  std::uint64_t marked() const noexcept {  ///< of the offered
    std::uint64_t sum = 0;
    for (const MarkSummary& mark : marks) sum += mark.packets;
    return sum;
  }
};

/// Everything a report says but the flows. Plain data.
struct ReportSummary {
  std::string source;                        ///< what was watched
  std::vector<InterfacePackets> interfaces;  ///< where there are several; their packets are what was polled
  std::string remedy;                        ///< where packets found the source's queue full: what helps
  std::uint64_t number = 0;                  ///< counts the reports of a run from 1
  bool final = false;
  double elapsed_s = 0;  ///< wall clock since the start
  Accounting total;
  std::vector<WorkerSummary> workers;
  std::vector<ReceiverSummary> receivers;  ///< none, unless a receive thread is in front of the workers
  std::uint64_t capacity = 0;              ///< flows, of all workers
  std::uint64_t memory_bytes = 0;          ///< mapped for tables and rows; never exceeded
  std::uint64_t resident_bytes = 0;        ///< of the whole process, when this was told; 0: not known
  Identity identity = Identity::exact;
  double expected_merges = 0;  ///< of two flows counted as one, by a lossy identity
  std::optional<std::uint64_t> observed_merges;
  std::optional<std::string> damage;  ///< where the input broke
  std::vector<TaskSummary> tasks;
  std::vector<StateSummary> states;              ///< none where there is one
  std::vector<ClassSummary> classes;             ///< in a model's order; none where flows are not classified
  std::optional<ClassifierSummary> classifiers;  ///< in a final report
  std::optional<ForwardingSummary> forwarding;   ///< where packets go on
  std::optional<AdaptationSummary> adaptation;
  std::optional<FloodFilterSummary> flood_filter;
  std::vector<OutputSummary> outputs;   ///< that take what leaves while the run goes on
  std::vector<CostSummary> costs;       ///< none where nobody asked
  std::uint64_t windows = 0;            ///< measured, of all lengths
  bool windows_balanced = true;         ///< in each, what its flows' packets add up to is what was counted
  std::uint64_t segments_not_kept = 0;  ///< of TCP, for want of room: they give no round-trip time
  std::uint64_t events_not_taken = 0;   ///< for want of room between the tasks and the report

  std::uint64_t first_ns() const noexcept { return total[Counter::first_seen_ns]; }  ///< packet time
  std::uint64_t last_ns() const noexcept { return total[Counter::last_seen_ns]; }
};

/// One line of a report.
struct ReportFlow {
  const FlowRecord& record;
  std::span<const Value> values;  ///< one per column, read from the record and its row
};

/// Calls its argument with every flow of a report.
using FlowSource = std::function<void(const std::function<void(const ReportFlow&)>&)>;

/// A report ready to be written, once.
struct Report {
  ReportSummary summary;
  std::span<const ColumnInfo> columns;  ///< of a Schema
  FlowSource flows;                     ///< those that left while the run went on are not among them
  FlowSource live = {};                 ///< of these, the ones that have not ended
  std::span<const Event> events;        ///< the latest, since the report before
  std::uint64_t events_left_out = 0;    ///< of those, for want of room

  std::span<const ColumnInfo> asked() const noexcept { return columns.subspan(columns_of_record(columns)); }
};

/// Loss ratio and its upper 95 % bound. None lost in n packets only shows a ratio below 3 / n.
/// Source: the rule of three, Hanley and Lippman-Hand, JAMA 249(13), 1983; Wilson's score bound otherwise.
struct LossRatio {
  double ratio = 0, upper95 = 1;
};
LossRatio loss_ratio(std::uint64_t lost, std::uint64_t offered) noexcept;

}  // namespace parshall
