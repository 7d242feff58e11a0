// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "../resident_bytes.hpp"
#include "engine/thread_models.hpp"
#include "parshall/wiring.hpp"
#include "traffic.hpp"

namespace parshall::testing {

struct RunPlan {
  ThreadModel model = ThreadModel::run_to_completion;
  std::size_t workers = 1;
  std::size_t flows = 4096;
  Timeouts timeouts = {};
  std::vector<std::string> columns = {};
  Identity identity = Identity::exact;
  std::string filter = {};
  std::size_t ring_packets = 65536;
  std::size_t batch = 256;
  bool packets_only = false;
  const HashFunction* hash = nullptr;
  bool observe_merges = false;
  std::vector<std::string> tasks = {};
  std::string table = "bucketed";
  std::uint32_t flood_filter_bytes = 0;
  bool counts_bytes = false;
};

inline TaskSets tasks_of(const RunPlan& plan) {
  std::vector<TaskSpec> specs;
  for (const std::string& task : plan.tasks) specs.push_back({task});
  auto tasks = TaskSets::make(specs, {.keys = 4096});
  if (!tasks) throw std::runtime_error(tasks.error().message);
  return *std::move(tasks);
}

inline Schema schema_of(const std::vector<std::string>& names) {
  auto schema = Schema::make(names, StatisticOptions{});
  if (!schema) throw std::runtime_error(schema.error().message);
  return *std::move(schema);
}

inline SessionOptions options_of(const RunPlan& plan) {
  Plan whole;
  whole.source = {.file = "a list", .filter = plan.filter, .batch = plan.batch};  // in its place comes a list
  whole.flows = {.identity = plan.identity,
                 .table = plan.table,
                 .observe_merges = plan.observe_merges,
                 .packets_only = plan.packets_only,
                 .flows = plan.flows,
                 .flood_filter_bytes = plan.flood_filter_bytes,
                 .idle_ns = plan.timeouts.idle_ns,
                 .active_ns = plan.timeouts.active_ns,
                 .seed = 0x5EED};
  whole.tasks.specs = plan.tasks;
  whole.tasks.keys = 4096;
  const auto models = thread_models();
  const auto model = std::ranges::find(models, plan.model, &ThreadModelEntry::model);
  whole.threads = {.workers = plan.workers, .model = std::string(model->name), .ring = plan.ring_packets};
  auto wiring = wire(whole, {.counts_bytes = plan.counts_bytes});
  if (!wiring) throw std::runtime_error(wiring.error().message);
  SessionOptions session = std::move(wiring->session);
  if (plan.hash != nullptr) session.hash = plan.hash;  // which may be in no registry
  return session;
}

inline std::unique_ptr<Session> make_session(const RunPlan& plan, std::shared_ptr<const Traffic> traffic,
                                             Behaviour behaviour = {}) {
  Input input{
      .description = "synthetic", .sources = {}, .dealing = Dealing::all_to_each, .owner = nullptr, .device = nullptr};
  const std::size_t lanes = plan.model == ThreadModel::pipeline ? 1 : plan.workers;
  for (std::size_t i = 0; i < lanes; ++i) input.sources.push_back(std::make_unique<ListSource>(traffic, behaviour));
  return std::make_unique<Session>(std::move(input), options_of(plan), schema_of(plan.columns), Session::Stages{},
                                   tasks_of(plan));
}

/// Lets packets through in `steps` equal steps, one before each report, so that reports and packets run side by side.
class Gate {
 public:
  Gate(const Traffic& traffic, std::uint64_t steps) : step_(traffic.packets().size() / steps + 1) {}
  void open_further() { *open_ += step_; }
  Behaviour behaviour() const { return {.gate = open_}; }

 private:
  std::uint64_t step_;
  std::shared_ptr<std::atomic<std::uint64_t>> open_ = std::make_shared<std::atomic<std::uint64_t>>(0);
};

/// A row of a report, kept, with the columns that were asked for.
struct Row {
  FlowRecord record;
  std::vector<std::optional<double>> values;
};

inline std::vector<Row> rows_of(const Report& report) {
  std::vector<Row> rows;
  report.flows([&rows](const ReportFlow& flow) {
    Row row{flow.record, {}};
    for (const Value& value : flow.values.subspan(kBaseColumns)) row.values.push_back(value.number());
    rows.push_back(std::move(row));
  });
  return rows;
}

inline std::uint64_t packets_in(const std::vector<Row>& rows) {
  std::uint64_t packets = 0;
  for (const Row& row : rows) packets += row.record.packets;
  return packets;
}

inline void expect_balanced(const Accounting& total) {
  EXPECT_TRUE(total.balanced()) << total[Counter::polled] << " polled, " << total[Counter::ring_full] << " ring full, "
                                << total[Counter::filtered] << " filtered, " << total.not_ip() << " not IP, "
                                << total.malformed() << " malformed, " << total.counted() << " counted, "
                                << total[Counter::live_flow_packets] << " live, "
                                << total[Counter::ended_record_packets] << " ended, "
                                << total[Counter::kept_out_packets] << " kept out";
}

/// As expect_balanced(), and the accounts of its threads each, which add up to it. Of a summary of a source that is no
/// device.
inline void expect_balanced_by_thread(const ReportSummary& summary) {
  expect_balanced(summary.total);
  std::vector<Accounting> threads;
  for (const WorkerSummary& worker : summary.workers) threads.push_back(worker.accounting);
  for (const ReceiverSummary& receiver : summary.receivers) threads.push_back(receiver.accounting);
  Accounting all;
  for (const Accounting& thread : threads) {
    expect_balanced(thread);
    all += thread;
  }
  for (const Counter counter :
       {Counter::polled, Counter::ring_full, Counter::filtered, Counter::not_ip, Counter::counted,
        Counter::live_flow_packets, Counter::ended_record_packets, Counter::kept_out_packets})
    EXPECT_EQ(all[counter], summary.total[counter]) << name_of(counter);
  std::uint64_t handed_over = 0;
  for (const ReceiverSummary& receiver : summary.receivers) handed_over += receiver.handed_over;
  if (!summary.receivers.empty() && summary.final) {
    EXPECT_EQ(handed_over, summary.total.counted());
  }
}

/// Every record says what its packets were, and every packet of the traffic is in exactly one record.
inline void expect_exact(const std::vector<Row>& rows, const Traffic& traffic) {
  std::unordered_map<std::string, std::vector<const FlowRecord*>> records;
  for (const Row& row : rows) records[text_of(row.record.key)].push_back(&row.record);
  for (auto& [key, of_flow] : records) {
    const auto flow = traffic.by_flow().find(key);
    ASSERT_NE(flow, traffic.by_flow().end()) << "a flow that nobody sent";
    std::ranges::sort(of_flow, {}, &FlowRecord::first_ns);
    std::span<const Sent* const> packets = flow->second;
    for (std::size_t at = 0; at < of_flow.size(); ++at) {
      const FlowRecord& record = *of_flow[at];
      ASSERT_TRUE(at == 0 || of_flow[at - 1]->first_ns != record.first_ns) << "one record twice";
      ASSERT_GE(packets.size(), record.packets);
      std::uint64_t ip_bytes = 0, wire_bytes = 0;
      for (const Sent* const packet : packets.first(record.packets))
        ip_bytes += packet->ip_bytes, wire_bytes += packet->wire_bytes;
      ASSERT_EQ(record.first_ns, packets[0]->time_ns);
      ASSERT_EQ(record.last_ns, packets[record.packets - 1]->time_ns);
      ASSERT_EQ(record.ip_bytes, ip_bytes);
      ASSERT_EQ(record.wire_bytes, wire_bytes);
      packets = packets.subspan(record.packets);
    }
    ASSERT_TRUE(packets.empty()) << packets.size() << " packets are in no record";
  }
  ASSERT_EQ(records.size(), traffic.by_flow().size()) << "flows have no record";
}

}  // namespace parshall::testing
