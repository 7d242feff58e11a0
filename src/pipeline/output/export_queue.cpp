// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/export_queue.hpp"

#include <algorithm>

#include "base/thread_name.hpp"

namespace parshall {
namespace {

constexpr std::chrono::milliseconds kNap{1}, kFlushEvery{100};
constexpr std::chrono::microseconds kRoomNap{100};

/// Bytes of a ring in which any record finds room, once it is empty: rows of fine histograms are long.
std::size_t room_for_some(const Schema& schema) {
  constexpr std::size_t kSome = 4;
  return kSome * (sizeof(RecordHeader) + (schema.statistics() ? schema.statistics()->row_bytes() : 0));
}

}  // namespace

void ExportQueue::Tally::add(std::uint64_t more_records, std::uint64_t more_packets) noexcept {
  records.fetch_add(more_records, std::memory_order_relaxed);
  packets.fetch_add(more_packets, std::memory_order_relaxed);
}

ExportQueue::ExportQueue(std::unique_ptr<Exporter> exporter, Schema schema, bool waits, GiveBack give_back,
                         std::size_t bytes)
    : exporter_(std::move(exporter)),
      schema_(std::move(schema)),
      ring_(std::max(bytes, room_for_some(schema_))),
      waits_(waits),
      give_back_(std::move(give_back)),
      unflushed_(std::max(kUnflushedBytes, room_for_some(schema_))) {
  batch_.reserve(kBatch);
  flows_.reserve(kBatch);
  values_.resize(kBatch * schema_.columns().size());
  thread_ = std::thread([this] { run(); });
}

ExportQueue::~ExportQueue() {
  abandoned_.store(true, std::memory_order_release);
  thread_.join();
}

ExportQueue::Put ExportQueue::put(std::span<const std::byte> record) {
  const std::uint64_t packets = RecordView(record).header.record.packets;
  offered_.add(1, packets);
  while (!failed()) {
    if (ring_.push(record, {})) return Put::taken;
    if (!waits_) break;
    std::this_thread::sleep_for(kRoomNap);
  }
  dropped_.add(1, packets);
  return failed() ? Put::given_back : Put::dropped;
}

bool ExportQueue::finished_within(std::chrono::milliseconds most) {
  finishing_.store(true, std::memory_order_release);
  const auto until = std::chrono::steady_clock::now() + most;
  while (!ended_.load(std::memory_order_acquire)) {
    if (std::chrono::steady_clock::now() >= until) return false;
    std::this_thread::sleep_for(kNap);
  }
  return true;
}

ExportCounts ExportQueue::counts() const noexcept {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  ExportCounts counts;  // what comes last is read first, so that no more is written than was offered
  counts.records.written = written_.records.load(kRelaxed);
  counts.packets.written = written_.packets.load(kRelaxed);
  counts.records.dropped = dropped_.records.load(kRelaxed);
  counts.packets.dropped = dropped_.packets.load(kRelaxed);
  counts.records.offered = offered_.records.load(kRelaxed);
  counts.packets.offered = offered_.packets.load(kRelaxed);
  return counts;
}

void ExportQueue::run() {
  name_this_thread("export");
  auto flushed = std::chrono::steady_clock::now();
  for (;;) {
    const bool abandoned = abandoned_.load(std::memory_order_acquire);  // read before the ring
    const bool last = abandoned || finishing_.load(std::memory_order_acquire);
    const std::size_t records = ring_.drain_some([this](std::span<const std::byte> record) { read(record); });
    write_batch();
    const auto now = std::chrono::steady_clock::now();
    if (unflushed_records_ != 0 && (last || now - flushed >= kFlushEvery)) {
      flush();
      flushed = now;
    }
    if (records != 0) continue;
    if (last) {
      if (!abandoned) begin();
      break;
    }
    std::this_thread::sleep_for(kNap);
  }
  ended_.store(true, std::memory_order_release);
}

void ExportQueue::read(std::span<const std::byte> record) {
  const RecordView view(record);
  if (failed()) {
    dropped_.add(1, view.header.record.packets);
    return give_back_(record);
  }
  while (!unflushed_.push(record, {})) {
    write_batch();
    flush();
    if (failed()) return read(record);
  }
  ++unflushed_records_;
  unflushed_packets_ += view.header.record.packets;
  batch_.push_back(view.header.record);
  const std::size_t columns = schema_.columns().size();
  const std::span values(values_.data() + flows_.size() * columns, columns);
  // A row that other statistics laid out is none.
  schema_.read(batch_.back(), view.header.generation == 0 ? view.row : std::span<const std::byte>(), {}, values);
  flows_.push_back({batch_.back(), values});
  if (flows_.size() == kBatch) write_batch();
}

void ExportQueue::write_batch() {
  if (flows_.empty()) return;
  begin();
  exporter_->records(flows_);
  flows_.clear();
  batch_.clear();
  if (exporter_->error()) flush();
}

/// Not before there is something to write: a run that could not start leaves nothing.
void ExportQueue::begin() {
  if (!std::exchange(begun_, true)) exporter_->begin(schema_);
}

/// Now it shows whether what was handed over is written.
void ExportQueue::flush() {
  exporter_->flush();
  const bool good = !exporter_->error();
  (good ? written_ : dropped_).add(unflushed_records_, unflushed_packets_);
  unflushed_records_ = unflushed_packets_ = 0;
  if (!good) failed_.store(true, std::memory_order_release);
  unflushed_.drain([&](std::span<const std::byte> record) {
    if (!good) give_back_(record);
  });
}

}  // namespace parshall
