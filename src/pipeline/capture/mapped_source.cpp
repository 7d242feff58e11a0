// SPDX-License-Identifier: Apache-2.0
#include "pipeline/capture/mapped_source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <mutex>

namespace parshall {
namespace {

/// Existing mappings, for the signal handler.
struct Watched {
  std::atomic<std::uintptr_t> begin{0}, end{0};  ///< 0 marks a free entry
  std::atomic<bool> page_vanished{false};
};
std::array<Watched, 64> watched;

Watched* watched_at(std::uintptr_t address) noexcept {
  for (Watched& mapping : watched)
    if (address >= mapping.begin.load() && address < mapping.end.load()) return &mapping;
  return nullptr;
}

/// Replaces a page that vanished when the mapped file was truncated by zeros, and continues.
/// Source: signal-safety(7) does not list mmap(), which on Linux is a plain system call.
void on_bus_error(int number, siginfo_t* info, void*) {
  const auto page_bytes = static_cast<std::uintptr_t>(::getpagesize());
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  Watched* const mapping = watched_at(address);
  void* const page = reinterpret_cast<void*>(address / page_bytes * page_bytes);
  if (mapping == nullptr || info->si_code <= 0 ||
      ::mmap(page, page_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) {
    ::signal(number, SIG_DFL);  // not our page: end the program, whether an instruction or a process raised the signal
    ::raise(number);
    return;
  }
  mapping->page_vanished.store(true);
}

void watch_for_vanished_pages() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action {};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGBUS, &action, nullptr);
  });
}

}  // namespace

std::shared_ptr<const FileMapping> FileMapping::map(int fd) noexcept {
  struct stat status {};
  if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size <= 0) return nullptr;
  const int kept = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (kept < 0) return nullptr;
  const auto bytes = static_cast<std::size_t>(status.st_size);
  void* data = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
  if (data == MAP_FAILED) {
    ::close(kept);
    return nullptr;
  }
  ::madvise(data, bytes, MADV_SEQUENTIAL);
  return std::make_shared<const FileMapping>(static_cast<const std::uint8_t*>(data), bytes, kept, status.st_ctim);
}

FileMapping::FileMapping(const std::uint8_t* data, std::size_t bytes, int file, timespec changed) noexcept
    : bytes_(data, bytes), file_(file), changed_(changed) {
  watch_for_vanished_pages();
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  for (Watched& place : watched) {
    std::uintptr_t free = 0;
    if (!place.begin.compare_exchange_strong(free, begin)) continue;
    place.page_vanished.store(false);
    place.end.store(begin + bytes);
    break;
  }
}

FileMapping::~FileMapping() {
  if (Watched* const place = watched_at(reinterpret_cast<std::uintptr_t>(bytes_.data()))) {
    place->end.store(0);
    place->begin.store(0);
  }
  ::munmap(const_cast<std::uint8_t*>(bytes_.data()), bytes_.size());
  ::close(file_);
}

bool FileMapping::page_vanished() const noexcept {
  const Watched* const place = watched_at(reinterpret_cast<std::uintptr_t>(bytes_.data()));
  return place != nullptr && place->page_vanished.load(std::memory_order_relaxed);
}

FileMapping::Change FileMapping::change() const noexcept {
  struct stat status {};
  if (::fstat(file_, &status) != 0) return {.bytes = bytes_.size(), .any = page_vanished()};
  const bool touched = status.st_ctim.tv_sec != changed_.tv_sec || status.st_ctim.tv_nsec != changed_.tv_nsec;
  return {.bytes = std::min(bytes_.size(), static_cast<std::size_t>(status.st_size)),
          .any = touched || page_vanished()};
}

std::size_t MappedSource::poll(std::span<RawPacket> out) noexcept {
  if (out.empty() || exhausted_) return 0;
  Parsed parsed;
  do {  // one call may consume only headers and other blocks
    parsed = parser_->parse(rest_, out);
    rest_ = rest_.subspan(parsed.bytes);
  } while (parsed.packets == 0 && parsed.bytes > 0);
  const bool last = rest_.empty() || parsed.packets == 0;
  // Bytes that are gone read as zeros, and zeros as empty packets.
  if (last || out[parsed.packets - 1].captured_bytes == 0 || file_->page_vanished()) [[unlikely]]
    parsed.packets = without_vanished(out.first(parsed.packets));
  if (last && !cut_to_) parser_->finish(rest_);
  exhausted_ = last || cut_to_;
  taken_.store(file_->bytes().size() - rest_.size(), std::memory_order_relaxed);
  let_go();
  return parsed.packets;
}

/// Unmaps pages that were read. They stay in the page cache for other readers of the mapping.
void MappedSource::let_go() noexcept {
  constexpr std::size_t kKept = std::size_t{64} << 20, kAtOnce = std::size_t{32} << 20;
  const std::span<const std::uint8_t> file = file_->bytes();
  if (file.size() - rest_.size() < let_go_bytes_ + kKept + kAtOnce) [[likely]]
    return;
  ::madvise(const_cast<std::uint8_t*>(file.data() + let_go_bytes_), kAtOnce, MADV_DONTNEED);
  let_go_bytes_ += kAtOnce;
}

/// Returns how many of the packets are before the point where the file was truncated. Bytes beyond it may have been
/// rewritten since.
std::size_t MappedSource::without_vanished(std::span<const RawPacket> packets) noexcept {
  const FileMapping::Change change = file_->change();
  if (!change.any) return packets.size();
  const std::uint8_t* const begin = file_->bytes().data();
  const auto sound = [&](const RawPacket& packet) {
    const bool zeros = packet.captured_bytes == 0 && packet.wire_bytes == 0 && packet.time_ns == 0;
    return !zeros && packet.data + packet.captured_bytes <= begin + change.bytes;
  };
  const auto gone = std::ranges::find_if_not(packets, sound);
  if (gone != packets.end())
    cut_to_ = std::min(change.bytes, static_cast<std::size_t>(gone->data - begin));
  else if (change.bytes < file_->bytes().size() || file_->page_vanished())
    cut_to_ = change.bytes;
  return static_cast<std::size_t>(gone - packets.begin());
}

std::optional<Error> MappedSource::damage() const {
  if (cut_to_ || file_->page_vanished())
    return Error{
        fmt::format("{}: another program cut it while it was read, or the disk failed: nothing behind byte {} "
                    "of {} is counted, and packets that were being read may count as others",
                    name_, cut_to_.value_or(file_->change().bytes), file_->bytes().size())};
  if (!parser_->damage()) return std::nullopt;
  return Error{fmt::format("{}: {}", name_, *parser_->damage())};
}

}  // namespace parshall
