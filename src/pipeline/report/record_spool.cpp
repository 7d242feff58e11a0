// SPDX-License-Identifier: Apache-2.0
#include "pipeline/report/record_spool.hpp"

#include <cstring>
#include <utility>

namespace parshall {
namespace {

using Length = std::uint64_t;

void hand_out(std::span<const std::byte> bytes, const std::function<void(std::span<const std::byte>)>& visit) {
  for (std::size_t at = 0; at < bytes.size();) {
    Length length;
    std::memcpy(&length, bytes.data() + at, sizeof length);
    visit(bytes.subspan(at + sizeof length, length));
    at += sizeof length + length;
  }
}

}  // namespace

void RecordSpool::append(std::span<const std::byte> record) {
  const std::lock_guard lock(mutex_);
  append_locked(record);
}

void RecordSpool::append_locked(std::span<const std::byte> record) {
  const Length length = record.size();
  // Once records went to the file, the later ones follow them there, to keep the order.
  if (file_bytes_ != 0 || memory_.size() + sizeof length + record.size() > kMemoryBytes)
    if (!file_failed_ && append_to_file(record)) return;
  const auto* const head = reinterpret_cast<const std::byte*>(&length);
  memory_.insert(memory_.end(), head, head + sizeof length);
  memory_.insert(memory_.end(), record.begin(), record.end());
}

bool RecordSpool::append_to_file(std::span<const std::byte> record) {
  const Length length = record.size();
  if (!file_) file_.reset(std::tmpfile());
  if (file_ && std::fwrite(&length, sizeof length, 1, file_.get()) == 1 &&
      std::fwrite(record.data(), 1, record.size(), file_.get()) == record.size()) {
    file_bytes_ += sizeof length + record.size();
    return true;
  }
  file_failed_ = true;  // what fitted before stays readable: file_bytes_ says how much
  return false;
}

namespace {

void hand_out(std::FILE* file, std::uint64_t bytes, const std::function<void(std::span<const std::byte>)>& visit) {
  std::rewind(file);
  std::vector<std::byte> record;
  for (std::uint64_t at = 0; at < bytes;) {
    Length length;
    if (std::fread(&length, sizeof length, 1, file) != 1) return;
    record.resize(length);
    if (std::fread(record.data(), 1, length, file) != length) return;
    visit(record);
    at += sizeof length + length;
  }
}

}  // namespace

void RecordSpool::visit(const std::function<void(std::span<const std::byte>)>& visit) {
  hand_out(memory_, visit);
  if (!file_) return;
  hand_out(file_.get(), file_bytes_, visit);
  std::fseek(file_.get(), 0, SEEK_END);
}

void RecordSpool::take(const std::function<bool(std::span<const std::byte>)>& take) {
  std::vector<std::byte> memory;
  File file;
  std::uint64_t file_bytes;
  {
    const std::lock_guard lock(mutex_);
    memory.swap(memory_);
    file = std::move(file_);
    file_bytes = std::exchange(file_bytes_, 0);
    file_failed_ = false;
  }
  std::vector<std::vector<std::byte>> kept;
  const auto visit = [&](std::span<const std::byte> record) {
    if (!take(record)) kept.emplace_back(record.begin(), record.end());
  };
  hand_out(memory, visit);
  if (file) hand_out(file.get(), file_bytes, visit);
  for (const auto& record : kept) append(record);
}

}  // namespace parshall
