// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>

#include "base/heap.hpp"
#include "engine/session.hpp"

namespace parshall {

Report Session::final_report() {
  while (!ended_within(std::chrono::hours(1))) {
  }
  if (const auto& losses = chosen_->schema.losses(); losses && damage()) losses->note_damage();
  std::vector<StageCounts> counts;
  for (const auto& stage : workers_->stages()) counts.push_back(stage->counts());
  Report report{.summary = summarize(counts, /*final=*/true), .columns = {}, .flows = nullptr};
  report.columns = chosen_->schema.columns();
  report.flows = [this](const std::function<void(const ReportFlow&)>& visit) { visit_final(visit); };
  report.live = [this](const std::function<void(const ReportFlow&)>& visit) { visit_live(visit); };
  return report;
}

ReportSummary Session::summarize(std::span<const StageCounts> counts, bool final) {
  ReportSummary summary = summarizer_->summarize(counts, collector_->counters(), final);
  summary.memory_bytes = memory_bytes_;
  summary.resident_bytes = resident_bytes();
  if (options_.outputs != nullptr) summary.outputs = options_.outputs->summaries();
  if (!final) return summary;
  summary.events_not_taken = events_.dropped();
  if (const auto broken = damage()) summary.damage = broken->message;
  return summary;
}

void Session::visit_flow(const FlowRecord& record, std::span<const std::byte> row, std::uint64_t generation,
                         const Chosen& chosen, const std::function<void(const ReportFlow&)>& visit) {
  values_.resize(chosen.schema.columns().size());
  IntervalBase base;
  if (chosen.schema.needs_interval() && bases_) {
    base = bases_->find(record);
    base.interval_s = summarizer_->interval_s();
    if (record.end_reason == EndReason::none) bases_->put(record);
  }
  if (generation != chosen.generation) row = {};
  chosen.schema.read(record, row, base, values_);
  visit({record, values_, base});
}

void Session::visit_ended(std::uint64_t number, const Chosen& chosen,
                          const std::function<void(const ReportFlow&)>& visit) {
  collector_->visit_for(number, [&](const RecordView& view) {
    visit_flow(view.header.record, view.row, view.header.generation, chosen, visit);
  });
}

void Session::visit_snapshots(std::uint64_t number, SnapshotFlows flows,
                              const std::function<void(const ReportFlow&)>& visit) {
  const auto chosen = chosen_;
  if (flows == SnapshotFlows::live_and_ended) visit_ended(number, *chosen, visit);
  std::uint64_t live = 0;
  for (const auto& stage : workers_->stages()) live += stage->snapshot_ready()->counts[Counter::live_flows];
  if (bases_) bases_->begin_report(live);
  const auto read = [&](const Snapshot& snapshot, std::uint64_t i) {
    return RecordView({snapshot.flows.data() + i * snapshot.stride, snapshot.stride});
  };
  if (may_overlap()) {
    merger_->merge(
        *chosen->schema.statistics(), live,
        [&](std::uint64_t place, auto&& use) {
          for (const auto& stage : workers_->stages()) {
            const Snapshot& snapshot = *stage->snapshot_ready();
            if (const std::uint64_t here = snapshot.counts[Counter::live_flows]; place >= here) {
              place -= here;
              continue;
            }
            const RecordView view = read(snapshot, place);
            const bool has_row = view.header.generation == chosen->generation;
            return use(view.header.record, has_row ? view.row : std::span<const std::byte>());
          }
        },
        [&](const FlowRecord& record, std::span<const std::byte> row) {
          visit_flow(record, row, chosen->generation, *chosen, visit);
        });
  } else {
    for (const auto& stage : workers_->stages()) {
      const Snapshot& snapshot = *stage->snapshot_ready();
      for (std::uint64_t i = 0; i < snapshot.counts[Counter::live_flows]; ++i) {
        const RecordView view = read(snapshot, i);
        visit_flow(view.header.record, view.row, view.header.generation, *chosen, visit);
      }
    }
  }
  if (bases_) bases_->end_report();
}

void Session::visit_final(const std::function<void(const ReportFlow&)>& visit) {
  const auto chosen = chosen_;
  collector_->visit_all([&](const RecordView& view) {
    visit_flow(view.header.record, view.row, view.header.generation, *chosen, visit);
  });
  visit_live(visit);
}

void Session::visit_live(const std::function<void(const ReportFlow&)>& visit) {
  const auto chosen = chosen_;
  if (!may_overlap()) {
    for (const auto& stage : workers_->stages()) {
      const std::uint64_t generation = stage->statistics().generation;
      stage->visit([&](FlowRecord record, std::span<const std::byte> row) {
        record.end_reason = EndReason::forced_end;  // the table is being removed
        visit_flow(record, row, generation, *chosen, visit);
      });
    }
    return;
  }
  std::uint64_t places = 0;
  std::vector<std::uint64_t> generations;
  for (const auto& stage : workers_->stages()) {
    places += stage->slots();
    generations.push_back(stage->statistics().generation);
  }
  const auto read = [&](std::uint64_t place, auto&& use) {
    for (std::size_t i = 0; i < generations.size(); ++i) {
      const auto& stage = workers_->stages()[i];
      if (const std::uint64_t slots = stage->slots(); place >= slots) {
        place -= slots;
        continue;
      }
      const bool has_row = generations[i] == chosen->generation;
      const auto end = [&](FlowRecord record, std::span<const std::byte> row) {
        record.end_reason = EndReason::forced_end;
        use(record, has_row ? row : std::span<const std::byte>());
      };
      return stage->visit_slot(static_cast<std::uint32_t>(place), std::ref(end));
    }
  };
  merger_->merge(*chosen->schema.statistics(), places, read,
                 [&](const FlowRecord& record, std::span<const std::byte> row) {
                   visit_flow(record, row, chosen->generation, *chosen, visit);
                 });
}

}  // namespace parshall
