// SPDX-License-Identifier: Apache-2.0
#include "pipeline/capture/dpdk/memif_rings.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <memory>
#include <string_view>
#include <system_error>

namespace parshall::dpdk {
namespace {

constexpr std::uint32_t kCookie = 0x3E31F20;
constexpr std::uint32_t kHeadAt = 6, kTailAt = 64, kSlotsAt = 128, kSlotBytes = 16, kMostSlots = 1 << 14,
                        kMostRings = 512;

constexpr std::uint32_t ring_bytes(std::uint32_t slots) noexcept { return kSlotsAt + slots * kSlotBytes; }

template <typename T>
T read_at(int file, std::uint32_t offset) noexcept {
  T value{};
  return ::pread(file, &value, sizeof value, offset) == sizeof value ? value : T{};
}

bool is_ring(int file, std::uint32_t offset) noexcept { return read_at<std::uint32_t>(file, offset) == kCookie; }

/// Returns whether this is a file of rings, which both ends keep from being truncated.
bool has_rings(int file) noexcept {
  const int seals = ::fcntl(file, F_GET_SEALS);
  return seals >= 0 && (seals & F_SEAL_SHRINK) != 0 && is_ring(file, 0);
}

}  // namespace

std::optional<MemifRings> MemifRings::find() noexcept {
  int found = -1;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir("/proc/self/fd"), &::closedir);
  while (const dirent* entry = directory ? ::readdir(directory.get()) : nullptr) {
    const std::string_view name(entry->d_name);
    int fd = -1;
    if (std::from_chars(name.begin(), name.end(), fd).ec != std::errc{} || !has_rings(fd)) continue;
    if (found >= 0) return std::nullopt;
    found = fd;
  }
  if (found < 0) return std::nullopt;
  FileHandle file(::fcntl(found, F_DUPFD_CLOEXEC, 0));  // the driver closes its descriptor when the peer disconnects
  std::uint32_t slots = 1, rings = 1;
  while (slots <= kMostSlots && !is_ring(file.get(), ring_bytes(slots))) slots *= 2;
  if (slots > kMostSlots) return std::nullopt;
  while (rings < kMostRings && is_ring(file.get(), rings * ring_bytes(slots))) ++rings;
  return MemifRings(std::move(file), slots, rings);
}

std::uint32_t MemifRings::waiting(std::uint16_t queue, bool is_server) const noexcept {
  const std::uint32_t ring = (is_server ? rings_ / 2 + queue : queue) * ring_bytes(slots_);
  const std::uint32_t head = read_at<std::uint16_t>(file_.get(), ring + kHeadAt);
  const std::uint32_t tail = read_at<std::uint16_t>(file_.get(), ring + kTailAt);
  return (is_server ? tail - (head - slots_) : head - tail) & UINT16_MAX;
}

}  // namespace parshall::dpdk
