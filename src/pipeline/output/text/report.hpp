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
#include "pipeline/output/alarms/alarm.hpp"
#include "pipeline/output/output_summary.hpp"
#include "pipeline/output/records/schema.hpp"
#include "pipeline/output/stage_counts.hpp"

namespace parshall {

/// One worker (a core, a queue, a table) in a report.
struct WorkerSummary {
  Accounting accounting;
  double busy_share = 0;  ///< fraction of the time since the previous report, in [0, 1]
};

/// A lane of the receive thread, in a report. Its account has the packets that went no further, so receivers and
/// workers together have each packet once.
struct ReceiverSummary : WorkerSummary {
  std::uint64_t handed_over = 0;
};

/// Estimated recall of a task.
struct RecallSummary {
  double threshold = 0;
  std::uint64_t windows = 0;
  std::uint64_t incomplete = 0;  ///< windows in which it did not see all of its flows
  std::uint64_t unknown = 0;     ///< incomplete windows of unknown recall: none of the last ones had a flow
  std::uint64_t below = 0;       ///< windows whose estimate is below the threshold
  double mean = 1;               ///< mean over all windows with a known recall
  double least = 1;              ///< 95 % bound in the worst window
};

/// Estimated recall of a task in one window, when flows are reduced to lighter states.
struct WindowRecall {
  std::string task;
  EventWindow window;
  double threshold = 0;
  std::optional<double> recall, at_least;  ///< estimate and 95 % bound; unknown without flows to judge by
  std::uint64_t flows_seen = 0, flows_missed = 0;
  std::uint64_t flows_seen_in_part = 0;             ///< counted as seen and as missed
  std::uint64_t packets = 0, packets_left_out = 0;  ///< packets of its flows; part of it: in flows not seen wholly
};

inline std::size_t heap_bytes(const WindowRecall& told) noexcept { return heap_bytes(told.task); }

/// Results of a task, in a final report.
struct TaskSummary {
  std::string name;
  std::uint64_t events = 0;
  std::uint64_t dropped = 0;        ///< events beyond a window's limit
  std::uint64_t keys_left_out = 0;  ///< keys without room, summed over windows
  std::optional<RecallSummary> recall;
};

/// Time during which a task could not find as much as it wants.
struct GivenUp {
  std::string task;
  double seconds = 0;   ///< sum over all workers
  bool is_now = false;  ///< true if it is so on any worker
};

/// What was done about overload.
struct AdaptationSummary {
  std::string mode;               ///< name of the policy
  double seconds = 0;             ///< sum over all workers
  double reduced_s = 0;           ///< part of it in which tasks left out flows
  std::uint64_t windows = 0;      ///< windows with a decision
  std::uint64_t infeasible = 0;   ///< windows in which packets took too long, whatever tasks left out
  double overhead_share = 0;      ///< fraction of the time spent on deciding
  double longest_us = 0;          ///< longest time of one decision
  double factor = 1;              ///< time that packets took, relative to the costs assumed
  std::vector<GivenUp> given_up;  ///< tasks that were given up
};

/// The flood filter, over all workers.
struct FloodFilterSummary {
  std::uint32_t bytes = 0;  ///< bytes that a flow had to show
  double seconds = 0;       ///< packet time
  double on_s = 0;          ///< part of it in which the filter was on
};

/// Time that a worker or the analyst thread spends on something, per packet.
struct CostSummary {
  std::string what;
  double ns_per_packet = 0;
};

/// A monitoring state in a report.
struct StateSummary {
  std::string name;
  std::uint64_t packets = 0;  ///< packets of flows while they were in it
  std::uint64_t kept = 0;     ///< packets while the flow was not reduced to a lighter state
};

/// Flows of one class.
struct ClassSummary {
  std::string name;  ///< "unknown", or "too few packets", for flows without a class
  ClassCounts counts;
};

/// Threads that classified flows instead of the workers.
struct ClassifierSummary {
  std::size_t threads = 0;
  ClassJobCounts jobs;
};

/// Marking of forwarded packets of one class.
struct MarkSummary {
  std::string class_name;
  std::optional<std::uint8_t> dscp;  ///< nullopt: packets keep their DSCP
  std::uint64_t packets = 0;
};

/// Outcome of packets to be forwarded. In the final report, `offered` equals the packets polled.
struct ForwardingSummary {
  std::uint64_t offered = 0, sent = 0;
  std::uint64_t too_long = 0;  ///< longer than the other device sends, or truncated on arrival
  std::uint64_t refused = 0;   ///< dropped by the other device: its queue was full, or it was down
  std::vector<MarkSummary> marks;

  std::uint64_t not_sent() const noexcept { return too_long + refused; }
  std::uint64_t marked() const noexcept {  ///< part of the offered packets
    std::uint64_t sum = 0;
    for (const MarkSummary& mark : marks) sum += mark.packets;
    return sum;
  }
};

/// Settings that two taps must have in common, so that their flows can be compared by flow_key.
struct FlowKeySettings {
  KeyFields key = KeyFields::five_tuple;
  IpHeader header = IpHeader::outermost;
  bool is_biflow = false;
  std::uint64_t seed_check = 0;  ///< see FlowIds::check()
  std::string filter;            ///< empty: none
};

/// Everything in a report except the flows. Plain data.
struct ReportSummary {
  std::string source;                        ///< monitored source
  std::vector<InterfacePackets> interfaces;  ///< counts if there are several interfaces; their packets are those polled
  std::string remedy;                        ///< advice, if packets found the source's queue full
  std::uint64_t number = 0;                  ///< number of the report in the run, from 1
  bool final = false;
  double elapsed_s = 0;  ///< wall clock since the start
  Accounting total;
  std::vector<WorkerSummary> workers;
  std::vector<ReceiverSummary> receivers;  ///< empty unless a receive thread is in front of the workers
  std::uint64_t capacity = 0;              ///< flows, over all workers
  std::uint64_t memory_bytes = 0;          ///< limit mapped for tables and rows; never exceeded
  std::uint64_t resident_bytes = 0;        ///< resident memory of the process at this moment; 0: unknown
  FlowKeySettings flow_keys;
  Identity identity = Identity::exact;
  double expected_merges = 0;  ///< expected number of flows counted as part of another one, with a lossy identity
  std::optional<std::uint64_t> observed_merges;
  std::optional<std::string> damage;  ///< place where the input broke
  std::vector<TaskSummary> tasks;
  std::optional<AlarmList> alarms;               ///< set if tasks run
  std::vector<StateSummary> states;              ///< empty if there is only one
  std::vector<ClassSummary> classes;             ///< in a model's order; empty if flows are not classified
  std::optional<ClassifierSummary> classifiers;  ///< only in a final report
  std::optional<ForwardingSummary> forwarding;   ///< set if packets are forwarded
  std::optional<AdaptationSummary> adaptation;
  std::optional<FloodFilterSummary> flood_filter;
  std::vector<OutputSummary> outputs;   ///< outputs of data that leaves while the run goes on
  std::vector<CostSummary> costs;       ///< empty unless requested
  std::uint64_t windows = 0;            ///< windows measured, of all lengths
  bool windows_balanced = true;         ///< true if, in each window, the packets of its flows add up to those counted
  std::uint64_t segments_not_kept = 0;  ///< dropped TCP segments, which give no round-trip time
  std::optional<std::uint64_t> names_not_read =
      {};                                      ///< flows without one for lack of room or time; unset: none are read
  std::optional<LabelCounts> labels = {};      ///< set if flows get labels
  std::optional<LearningState> learning = {};  ///< set if classes are learnt from them
  std::uint64_t events_not_taken = 0;          ///< events dropped for lack of room between the tasks and the report

  std::uint64_t first_ns() const noexcept { return total[Counter::first_seen_ns]; }  ///< packet time
  std::uint64_t last_ns() const noexcept { return total[Counter::last_seen_ns]; }
};

/// Rates of a row by which others are compared; NaN if they are unknown.
struct RowRates {
  float pps = 0, in_bps = 0, out_bps = 0;
};

/// One row of a report.
struct ReportFlow {
  const FlowRecord& record;
  std::span<const Value> values;  ///< one per column, read from the record and its statistics row
  IntervalBase before = {};       ///< its counts at the previous report, if the schema needs them
  RowRates rates = {};            ///< of late, if the reader of the report knows them
  std::string_view text = {};     ///< that a group is made of, if it is
};

/// Names of the rows of a report.
struct RowNames {
  std::string_view one = "flow", many = "flows";
};

/// Calls its argument with every flow of a report.
using FlowSource = std::function<void(const std::function<void(const ReportFlow&)>&)>;

/// A report that can be written once.
struct Report {
  ReportSummary summary;
  std::span<const ColumnInfo> columns;  ///< columns of a Schema
  RowNames rows = {};
  std::vector<std::string> key_names = {};  ///< names of 0, 1, ... if rows are groups by an enumeration
  FlowSource flows;                         ///< flows, without those that left while the run went on
  FlowSource live = {};                     ///< only flows that have not ended
  std::span<const Event> events;            ///< the latest ones since the previous report
  std::uint64_t events_left_out = 0;        ///< events dropped for lack of room

  bool are_groups() const noexcept { return rows.one != RowNames().one; }
  std::span<const ColumnInfo> asked() const noexcept { return columns.subspan(columns_of_record(columns)); }
};

/// Loss ratio and its upper 95 % bound. If none of n packets was lost, that only shows a ratio below 3 / n.
/// Source: the rule of three, Hanley and Lippman-Hand, JAMA 249(13), 1983; Wilson's score bound otherwise.
struct LossRatio {
  double ratio = 0, upper95 = 1;
};
LossRatio loss_ratio(std::uint64_t lost, std::uint64_t offered) noexcept;

}  // namespace parshall
