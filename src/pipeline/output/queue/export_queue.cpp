// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/queue/export_queue.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/thread_name.hpp"
#include "pipeline/output/records/kept_texts.hpp"

namespace parshall {
namespace {

constexpr std::chrono::milliseconds kNap{1}, kFlushEvery{100};
constexpr std::chrono::microseconds kRoomNap{100};

std::size_t bytes_of_one(const Schema& schema) {
  return sizeof(RecordHeader) + (schema.statistics() ? schema.statistics()->row_bytes() : 0);
}

/// Returns the size of a ring that, when empty, has room for any record. Rows of fine histograms are long.
std::size_t room_for_some(const Schema& schema) {
  constexpr std::size_t kSome = 4;
  return kSome * bytes_of_one(schema);
}

}  // namespace

void ExportQueue::Tally::add(std::uint64_t more_records, std::uint64_t more_packets,
                             std::uint64_t more_findings) noexcept {
  records.fetch_add(more_records, std::memory_order_release);
  packets.fetch_add(more_packets, std::memory_order_release);
  findings.fetch_add(more_findings, std::memory_order_release);
}

OutputSummary::Sum ExportQueue::Tally::read() const noexcept {
  return {records.load(std::memory_order_acquire), packets.load(std::memory_order_acquire),
          findings.load(std::memory_order_acquire)};
}

ExportQueue::ExportQueue(std::unique_ptr<Exporter> exporter, const Schema& schema, ExportOptions options)
    : exporter_(std::move(exporter)),
      options_(std::move(options)),
      schema_(schema),
      has_packets_(schema.has("packets")),
      has_reverse_packets_(schema.has("reverse_packets")) {
  if (options_.takes.records) {
    const std::size_t bytes = std::max(options_.bytes, room_for_some(schema_));
    const std::size_t unflushed = options_.give_back ? std::max(kUnflushedBytes, room_for_some(schema_)) : 0;
    ring_.emplace(bytes, /*gives_back=*/true);
    if (unflushed != 0) unflushed_.emplace(unflushed, /*gives_back=*/true);
    batch_.reserve(kBatch);
    flows_.reserve(kBatch);
    values_.resize(kBatch * schema_.columns().size());
    texts_.resize(kBatch * room_for_texts(schema_.columns()));
    texts_end_ = texts_.data();
    memory_bytes_ += std::bit_ceil(bytes) + (unflushed == 0 ? 0 : std::bit_ceil(unflushed)) +
                     kBatch * (sizeof(FlowRecord) + schema_.columns().size() * sizeof(Value)) + texts_.size();
  }
  memory_bytes_ += exporter_->memory_bytes(schema_.columns());
  if (options_.takes.records) left_out_ = exporter_->left_out(schema_.columns());
  if (options_.takes.findings || options_.takes.alarms != ExporterTakes::Alarms::none) memory_bytes_ += kFindingBytes;
  thread_ = std::thread([this] { run(); });
}

ExportQueue::~ExportQueue() {
  abandon();
  thread_.join();
}

/// Counts the record as offered. Returns its packets.
std::uint64_t ExportQueue::offer(const FlowRecord& record) {
  const bool is_beyond =
      (record.packets != 0 && !has_packets_) || (record.reverse_packets != 0 && !has_reverse_packets_);
  if (is_beyond) packets_beyond_columns_.store(true, std::memory_order_relaxed);
  offered_.add(1, record.all_packets());
  return record.all_packets();
}

ExportQueue::Put ExportQueue::put(std::span<const std::byte> record) {
  const std::uint64_t packets = offer(RecordView(record).header.record);
  while (!failed()) {
    if (ring_->push(record, {})) {
      bell_.ring();
      return Put::taken;
    }
    if (!options_.waits || abandoned_.load(std::memory_order_relaxed)) break;
    std::this_thread::sleep_for(kRoomNap);
  }
  dropped_.add(1, packets);
  return failed() && options_.give_back ? Put::given_back : Put::dropped;
}

void ExportQueue::put(const Event& event) { put_finding(event); }
void ExportQueue::put(const WindowRecall& told) { put_finding(told); }
void ExportQueue::put(const Alarm& alarm) { put_finding(alarm); }

void ExportQueue::put_finding(Finding finding) {
  offered_.add(0, 0, 1);
  while (!failed()) {
    {
      std::unique_lock lock(findings_mutex_);
      if (findings_.has_room_for(finding)) {
        findings_.push(std::move(finding));
        lock.unlock();  // before ringing, since a sleeper that holds the bell's mutex calls has_work(), which locks
                        // this one
        return bell_.ring();
      }
    }
    if (!options_.waits || abandoned_.load(std::memory_order_relaxed)) break;
    std::this_thread::sleep_for(kRoomNap);
  }
  dropped_.add(0, 0, 1);
}

bool ExportQueue::finished_within(std::chrono::milliseconds most) {
  finishing_.store(true, std::memory_order_release);
  bell_.wake();
  const auto until = std::chrono::steady_clock::now() + most;
  while (!ended_.load(std::memory_order_acquire)) {
    if (std::chrono::steady_clock::now() >= until) return false;
    std::this_thread::sleep_for(kNap);
  }
  return true;
}

void ExportQueue::write_live(const ReportFlow& flow) {
  const std::uint64_t packets = offer(flow.record);
  if (failed()) return dropped_.add(1, packets);
  handed_over_ += {.records = 1, .packets = packets};
  exporter_->records({&flow, 1});
  if (++live_ % kLiveBatch == 0) flush();
}

void ExportQueue::write_last(const Alarm& alarm) {
  offered_.add(0, 0, 1);
  if (failed()) return dropped_.add(0, 0, 1);
  handed_over_ += {.findings = 1};
  exporter_->alarm(alarm);
}

void ExportQueue::flush_live() {
  if (!failed()) flush();
}

void ExportQueue::finish_live() {
  if (failed()) return;
  exporter_->finish();
  flush();
}

std::string ExportQueue::trouble() const {
  const std::lock_guard lock(trouble_mutex_);
  return trouble_;
}

std::optional<Error> ExportQueue::error() const {
  const std::lock_guard lock(trouble_mutex_);
  return error_;
}

OutputSummary ExportQueue::summary() const {
  OutputSummary summary{.name = options_.name,
                        .takes_records = options_.takes.records,
                        .whole_run = !part_of_run_.load(std::memory_order_relaxed),
                        .packets_in_columns = !packets_beyond_columns_.load(std::memory_order_relaxed),
                        .left_out = left_out_};
  summary.dropped = dropped_.read();  // read in reverse order of counting, so that the parts never exceed `offered`
  summary.unconfirmed = unconfirmed_.read();
  summary.written = written_.read();
  summary.offered = offered_.read();
  return summary;
}

void ExportQueue::run() {
  name_this_thread("export");
  auto flushed = std::chrono::steady_clock::now();
  for (;;) {
    const bool abandoned = abandoned_.load(std::memory_order_acquire);  // read before the queues
    const bool last = abandoned || finishing_.load(std::memory_order_acquire);
    if (run_began_.exchange(false, std::memory_order_acquire)) exporter_->begin_anew();
    const bool wrote = write_some();
    const auto now = std::chrono::steady_clock::now();
    if (begun_ && !failed() && (last || now - flushed >= kFlushEvery)) {
      flush();
      flushed = now;
    }
    if (wrote) continue;
    if (last) {
      if (!abandoned) {
        begin();
        flush();  // shows whether the beginning of the file could be written
      }
      break;
    }
    bell_.sleep(kFlushEvery, [this] { return has_work(); });
  }
  ended_.store(true, std::memory_order_release);
}

bool ExportQueue::has_work() {
  if (finishing_.load() || abandoned_.load() || run_began_.load() || (ring_ && !ring_->empty())) return true;
  const std::lock_guard lock(findings_mutex_);
  return !findings_.empty();
}

/// Returns whether there was anything to write.
bool ExportQueue::write_some() {
  std::size_t records = 0;
  if (ring_) records = ring_->drain_some([this](std::span<const std::byte> record) { read(record); });
  write_batch();
  return write_findings() || records != 0;
}

void ExportQueue::read(std::span<const std::byte> record) {
  const RecordView view(record);
  if (failed()) {
    dropped_.add(1, view.header.record.all_packets());
    if (options_.give_back) options_.give_back(record);
    return;
  }
  while (unflushed_ && !unflushed_->push(record, {})) {
    write_batch();
    flush();
    if (failed()) return read(record);
  }
  batch_.push_back(view.header.record);
  const std::size_t columns = schema_.columns().size();
  const std::span values(values_.data() + flows_.size() * columns, columns);
  // A row laid out by other statistics is treated as missing.
  schema_.read(batch_.back(), view.header.generation == 0 ? view.row : std::span<const std::byte>(), {}, values);
  if (!texts_.empty()) texts_end_ = keep_texts(values, texts_end_);
  handed_over_ += {.records = 1, .packets = batch_.back().all_packets()};
  flows_.push_back({batch_.back(), values});
  if (flows_.size() == kBatch) write_batch();
}

void ExportQueue::write_batch() {
  if (flows_.empty()) return;
  begin();
  exporter_->records(flows_);
  flows_.clear();
  batch_.clear();
  texts_end_ = texts_.data();
}

/// Returns whether there was anything to write.
bool ExportQueue::write_findings() {
  std::vector<Finding> findings;
  {
    const std::lock_guard lock(findings_mutex_);
    findings = findings_.pop_some(kFindingBatch);
  }
  if (findings.empty()) return false;
  if (failed()) {
    dropped_.add(0, 0, findings.size());
    return true;
  }
  begin();
  for (const Finding& finding : findings) {
    if (const Event* const event = std::get_if<Event>(&finding))
      exporter_->event(*event);
    else if (const Alarm* const alarm = std::get_if<Alarm>(&finding))
      exporter_->alarm(*alarm);
    else
      exporter_->recall(std::get<WindowRecall>(finding));
  }
  handed_over_ += {.findings = findings.size()};
  return true;
}

/// Begins the output, but not before there is something to write: a run that could not start leaves nothing.
void ExportQueue::begin() {
  if (!std::exchange(begun_, true)) exporter_->begin(schema_.columns());
}

/// Flushes, which shows whether the records handed over were written. Some that counted as written before may turn out
/// not to be.
void ExportQueue::flush() {
  FlushOutcome outcome = exporter_->flush();
  const bool good = !outcome.error, all_lost = !good || outcome.lost;
  const OutputSummary::Sum held = good ? outcome.held : OutputSummary::Sum();
  const OutputSummary::Sum not_sent = all_lost ? handed_over_ - held : outcome.not_sent;
  written_.add(std::exchange(handed_over_, held) - held - not_sent - outcome.unconfirmed);
  unconfirmed_.add(outcome.unconfirmed);
  dropped_.add(not_sent);
  if (all_lost) lost_some_.store(true, std::memory_order_relaxed);
  {
    const std::lock_guard lock(trouble_mutex_);
    trouble_ = std::move(outcome.trouble);
    error_ = std::move(outcome.error);
  }
  if (outcome.reader_gone) reader_gone_.store(true, std::memory_order_relaxed);
  if (!good) failed_.store(true, std::memory_order_release);
  if (!unflushed_) return;
  unflushed_->drain([&](std::span<const std::byte> record) {
    if (!good) options_.give_back(record);
  });
}

}  // namespace parshall
