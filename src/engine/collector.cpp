// SPDX-License-Identifier: Apache-2.0
#include "engine/collector.hpp"

#include "engine/traffic_pace.hpp"
#include "pipeline/output/records/ended_record.hpp"

namespace parshall {
namespace {

constexpr std::chrono::milliseconds kCollectEvery{1};
constexpr std::chrono::microseconds kPoll{200};

}  // namespace

Collector::Collector(const Workers& workers, EventQueue& events, const Options& options)
    : workers_(workers),
      events_(events),
      options_(options),
      spool_({.all_bytes = options.ended_bytes, .without_file_bytes = SpoolLimits().memory_bytes}) {}

void Collector::start(std::function<void()> meanwhile) {
  meanwhile_ = std::move(meanwhile);
  thread_ = std::thread([this] {
    TrafficPace pace(workers_);
    while (collecting_.load(std::memory_order_acquire)) {
      const bool asked = collect_now_.load(std::memory_order_acquire);
      if (collect()) pace.note_work();
      if (asked)
        collect_now_.store(false, std::memory_order_release);
      else
        std::this_thread::sleep_for(pace.nap(kCollectEvery));
    }
    collect();
    collected_all_.store(true, std::memory_order_release);
  });
}

void Collector::collect_now() {
  collect_now_.store(true, std::memory_order_release);
  while (collect_now_.load(std::memory_order_acquire)) std::this_thread::sleep_for(kPoll);
}

void Collector::finish() {
  end();
  if (thread_.joinable()) thread_.join();
}

bool Collector::collect() {
  meanwhile_();
  const bool collected = collect_ended();
  if (options_.outputs != nullptr) collect_findings();
  return collected;
}

bool Collector::collect_ended() {
  using Put = ExportQueue::Put;
  if (options_.outputs != nullptr) options_.outputs->come_round();
  const bool leave = options_.outputs != nullptr && options_.outputs->take_records();
  const bool wanted_later = options_.keeps_ended && !(leave && options_.outputs->have_report());
  const auto drop = [this](std::uint64_t records, std::uint64_t packets) {
    collected_.add(Counter::dropped_records, records);
    collected_.add(Counter::dropped_record_packets, packets);
    collected_now_.publish(collected_);
  };
  std::size_t records = 0;
  for (const auto& stage : workers_.stages())
    records += stage->ended().drain([&](std::span<const std::byte> record) {
      const Put put = leave ? options_.outputs->put(record) : Put::given_back;
      const bool keep = wanted_later || (options_.keeps_ended && put == Put::given_back);
      if (keep ? !spool_.append(record) : put == Put::dropped) drop(1, RecordView(record).header.record.all_packets());
    });
  if (const std::uint64_t refused = refused_records_.exchange(0)) drop(refused, refused_packets_.exchange(0));
  return records != 0;
}

void Collector::collect_findings() {
  events_.drain([this](const Event& event) { options_.outputs->put(event); });
  if (options_.recalls == nullptr) return;
  options_.recalls->windows->drain([this](const WindowRecall& told) { options_.outputs->put(told); });
}

void Collector::keep(std::span<const std::byte> record) {
  if (spool_.append(record)) return;
  refused_packets_.fetch_add(RecordView(record).header.record.all_packets());
  refused_records_.fetch_add(1);
}

void Collector::visit_for(std::uint64_t report, const VisitRecord& visit) {
  unconfirmed_.emplace_back(report, spool_.take([&](std::span<const std::byte> bytes) {
    const RecordView view(bytes);
    if (view.header.snapshot > report) return false;
    visit(view);
    return true;
  }));
}

void Collector::visit_all(const VisitRecord& visit) {
  for (const auto& [report, taken] : unconfirmed_)
    taken.visit([&, number = report](std::span<const std::byte> bytes) {
      if (const RecordView view(bytes); view.header.snapshot <= number) visit(view);
    });
  spool_.visit([&](std::span<const std::byte> bytes) { visit(RecordView(bytes)); });
}

}  // namespace parshall
