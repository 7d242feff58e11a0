// SPDX-License-Identifier: Apache-2.0
#include "pipeline/report/record_spool.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

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

/// Visits the whole records at the front of `bytes` and returns how many bytes they took.
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

int open_unnamed() {
  const char* const folder = std::getenv("TMPDIR");
  std::string path = std::string(folder != nullptr && *folder != 0 ? folder : "/tmp") + "/parshall-XXXXXX";
  const int file = ::mkostemp(path.data(), O_CLOEXEC);
  if (file >= 0) ::unlink(path.c_str());
  return file;
}

bool write_all(int file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

RecordSpool::~RecordSpool() { store_.close(); }

void RecordSpool::Store::close() noexcept {
  if (file >= 0) ::close(file);
  file = -1;
}

bool RecordSpool::append(std::span<const std::byte> record) {
  const std::lock_guard lock(mutex_);
  if (!store_.has_room(sizeof(Length) + record.size())) return false;
  store_.keep(record);
  return true;
}

bool RecordSpool::Store::has_room(std::size_t bytes) const noexcept {
  if (memory.size() + file_bytes + tail.size() + bytes > most_bytes) return false;
  return !file_failed || tail.size() + bytes <= std::max(memory_bytes, kWriteBytes);
}

void RecordSpool::Store::keep(std::span<const std::byte> record) {
  // Once records went behind the memory, the later ones follow them there, to keep the order.
  const bool behind = file_bytes != 0 || !tail.empty();
  const bool in_memory = !behind && memory.size() + sizeof(Length) + record.size() <= memory_bytes;
  put(in_memory ? memory : tail, record);
  if (tail.size() >= kWriteBytes) write_tail();
}

void RecordSpool::Store::write_tail() {
  if (file_failed) return;
  if (file < 0) file = open_unnamed();
  if (file >= 0 && write_all(file, tail)) {
    file_bytes += tail.size();
    tail.clear();
    return;
  }
  file_failed = true;  // the tail stays in memory; whatever part of it got into the file lies behind file_bytes
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
  if (!store_.visit(visit)) unreadable_ = true;
}

void RecordSpool::take(const std::function<bool(std::span<const std::byte>)>& take) {
  Store taken;
  {
    const std::lock_guard lock(mutex_);
    taken = std::exchange(store_, store_.emptied());
  }
  const bool whole = taken.visit([&](std::span<const std::byte> record) {
    if (take(record)) return;
    const std::lock_guard lock(mutex_);
    store_.keep(record);
  });
  if (!whole) unreadable_ = true;
  taken.close();
}

void RecordSpool::clear() {
  Store forgotten;
  {
    const std::lock_guard lock(mutex_);
    forgotten = std::exchange(store_, store_.emptied());
  }
  forgotten.close();
}

}  // namespace parshall
