// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/outputs.hpp"

#include <algorithm>
#include <utility>

namespace parshall {

using Put = ExportQueue::Put;

ExportQueue& Outputs::add(std::unique_ptr<Exporter> exporter, ExportOptions options) {
  return *queues_.emplace_back(std::make_unique<ExportQueue>(std::move(exporter), schema_, std::move(options)));
}

bool Outputs::take_records() const noexcept {
  return std::ranges::any_of(queues_, [](const auto& queue) { return queue->takes().records; });
}

bool Outputs::have_report() const noexcept {
  return std::ranges::any_of(queues_, [](const auto& queue) { return queue->name() == kReportOutput; });
}

std::uint64_t Outputs::memory_bytes() const noexcept {
  std::uint64_t bytes = other_bytes_;
  for (const auto& queue : queues_) bytes += queue->memory_bytes();
  return bytes;
}

Put Outputs::put(std::span<const std::byte> record) {
  bool is_taken = false, is_given_back = false;
  for (const auto& queue : queues_) {
    if (!queue->takes().records) continue;
    const Put put = queue->put(record);
    is_taken |= put == Put::taken;
    is_given_back |= put == Put::given_back;
  }
  if (is_given_back) return Put::given_back;
  return is_taken ? Put::taken : Put::dropped;
}

template <class Finding>
void Outputs::put_finding(const Finding& finding) {
  for (const auto& queue : queues_)
    if (queue->takes().findings) queue->put(finding);
  for (InnerExporter* const exporter : direct_) {
    if constexpr (std::is_same_v<Finding, Event>)
      exporter->event(finding);
    else
      exporter->recall(finding);
  }
}
template void Outputs::put_finding(const Event& event);
template void Outputs::put_finding(const WindowRecall& told);

std::vector<const ExportQueue*> Outputs::unfinished_after(std::chrono::milliseconds most) {
  const auto until = std::chrono::steady_clock::now() + most;
  std::vector<const ExportQueue*> unfinished;
  for (const auto& queue : queues_) {
    const auto left = std::max(std::chrono::steady_clock::duration(), until - std::chrono::steady_clock::now());
    if (!queue->finished_within(std::chrono::duration_cast<std::chrono::milliseconds>(left)))
      unfinished.push_back(queue.get());
  }
  return unfinished;
}

void Outputs::write_last(const Report& report) {
  if (!take_records()) return;
  report.live([this](const ReportFlow& flow) {
    for (const auto& queue : queues_)
      if (queue->takes().records) queue->write_live(flow);
  });
  for (const auto& queue : queues_)
    if (queue->takes().records) queue->flush_live();
  ReportSummary summary = report.summary;
  summary.outputs = summaries();
  for (const auto& queue : queues_) {
    if (!queue->takes().records || queue->failed()) continue;
    queue->exporter().accounting(summary);
    queue->flush_live();
  }
}

std::vector<OutputSummary> Outputs::summaries() const {
  std::vector<OutputSummary> summaries;
  for (const auto& queue : queues_) summaries.push_back(queue->summary());
  return summaries;
}

}  // namespace parshall
