// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/queue/record_spool.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "pipeline/output/files/unnamed_file.hpp"

namespace parshall {
namespace {

using Length = std::uint64_t;
constexpr std::size_t kWriteBytes = std::size_t{1} << 20;

void put(std::vector<std::byte>& into, std::span<const std::byte> record) {
  const Length length = record.size();
  const auto* const head = reinterpret_cast<const std::byte*>(&length);
  into.insert(into.end(), head, head + sizeof length);
  into.insert(into.end(), record.begin(), record.end());
}

/// Visits the whole records at the front of `bytes`. Returns how many bytes they took.
std::size_t hand_out(std::span<const std::byte> bytes, const std::function<void(std::span<const std::byte>)>& visit) {
  std::size_t at = 0;
  while (bytes.size() - at >= sizeof(Length)) {
    Length length;
    std::memcpy(&length, bytes.data() + at, sizeof length);
    if (bytes.size() - at - sizeof length < length) break;
    visit(bytes.subspan(at + sizeof length, length));
    at += sizeof length + length;
  }
  return at;
}

}  // namespace

RecordSpool::Store::~Store() {
  if (file >= 0) ::close(file);
}

bool RecordSpool::has_room(std::size_t bytes) const noexcept {
  const std::uint64_t there = (store_ ? store_->bytes() : 0) + taken_bytes_.load(std::memory_order_relaxed);
  if (there + bytes > limits_.all_bytes) return false;
  return !store_ || !store_->file_failed ||
         store_->tail.size() + bytes <= std::max<std::uint64_t>(limits_.without_file_bytes, kWriteBytes);
}

bool RecordSpool::append(std::span<const std::byte> record) {
  const std::lock_guard lock(mutex_);
  if (!has_room(sizeof(Length) + record.size())) return false;
  if (!store_) store_ = std::make_unique<Store>();
  store_->keep(record, limits_);
  return true;
}

/// Reserves memory at once: a vector that grows by doubling briefly takes one and a half times its size.
void RecordSpool::Store::keep(std::span<const std::byte> record, const SpoolLimits& limits) {
  // Once records have left the memory part, later ones follow them, to keep the order.
  const bool behind = file_bytes != 0 || !tail.empty();
  const bool in_memory = !behind && memory.size() + sizeof(Length) + record.size() <= limits.memory_bytes;
  if (in_memory && memory.capacity() == 0) memory.reserve(limits.memory_bytes);
  put(in_memory ? memory : tail, record);
  if (tail.size() >= kWriteBytes) write_tail(limits);
}

void RecordSpool::Store::write_tail(const SpoolLimits& limits) {
  if (file_failed) return;
  if (file < 0) file = open_unnamed();
  if (file >= 0 && write_all(file, tail)) {
    file_bytes += tail.size();
    tail.clear();
    return;
  }
  file_failed = true;  // the tail stays in memory; any part of it in the file is behind file_bytes
  if (limits.without_file_bytes != SpoolLimits::kUnbounded)
    tail.reserve(std::max<std::size_t>(limits.without_file_bytes, tail.size()));
}

bool RecordSpool::Store::visit(const std::function<void(std::span<const std::byte>)>& visit) const {
  hand_out(memory, visit);
  bool whole = true;
  std::vector<std::byte> chunk;
  std::size_t kept = 0;
  for (std::uint64_t at = 0; at < file_bytes;) {
    const std::size_t wanted = std::min<std::uint64_t>(std::max(kWriteBytes, 2 * kept), file_bytes - at);
    chunk.resize(kept + wanted);
    const ssize_t got = ::pread(file, chunk.data() + kept, wanted, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      whole = false;
      break;
    }
    at += static_cast<std::uint64_t>(got);
    chunk.resize(kept + static_cast<std::size_t>(got));
    const std::size_t used = hand_out(chunk, visit);
    chunk.erase(chunk.begin(), chunk.begin() + static_cast<std::ptrdiff_t>(used));
    kept = chunk.size();
  }
  hand_out(tail, visit);
  return whole && kept == 0;
}

void RecordSpool::visit(const std::function<void(std::span<const std::byte>)>& visit) {
  if (store_ && !store_->visit(visit)) unreadable_ = true;
}

RecordSpool::Taken::Taken(RecordSpool& spool, std::unique_ptr<Store> store) : spool_(&spool), store_(std::move(store)) {
  spool_->taken_bytes_.fetch_add(store_->bytes(), std::memory_order_relaxed);
}

RecordSpool::Taken::Taken(Taken&& other) noexcept = default;

RecordSpool::Taken::~Taken() {
  if (store_) spool_->taken_bytes_.fetch_sub(store_->bytes(), std::memory_order_relaxed);
}

void RecordSpool::Taken::visit(const std::function<void(std::span<const std::byte>)>& visit) const {
  if (!store_->visit(visit)) spool_->unreadable_ = true;
}

RecordSpool::Taken RecordSpool::take(const std::function<bool(std::span<const std::byte>)>& take) {
  std::unique_ptr<Store> store;
  {
    const std::lock_guard lock(mutex_);
    store = std::move(store_);
    if (!store) store = std::make_unique<Store>();
  }
  Taken taken(*this, std::move(store));
  taken.visit([&](std::span<const std::byte> record) {
    if (take(record)) return;
    const std::lock_guard lock(mutex_);
    if (!store_) store_ = std::make_unique<Store>();
    store_->keep(record, limits_);
  });
  return taken;
}

}  // namespace parshall
