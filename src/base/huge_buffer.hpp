// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <span>
#include <utility>

#include "base/page_commit.hpp"

namespace parshall {

/// A zeroed array on 2 MB pages where the kernel grants them (4 KB pages otherwise), mapped once.
/// Pages are committed when first touched. Throws std::bad_alloc when the address space is refused.
template <class T>
class HugeBuffer {
 public:
  HugeBuffer() = default;
  explicit HugeBuffer(std::size_t count, bool huge_pages = true) : count_(count) {
    mapped_ = (count * sizeof(T) + kHugePage - 1) / kHugePage * kHugePage + kHugePage;
    void* raw = ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (raw == MAP_FAILED) throw std::bad_alloc();
    map_ = raw;
    const auto at = reinterpret_cast<std::size_t>(raw);
    data_ = reinterpret_cast<T*>((at + kHugePage - 1) / kHugePage * kHugePage);
    ::madvise(data_, mapped_ - kHugePage, huge_pages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  }
  HugeBuffer(HugeBuffer&& other) noexcept { swap(other); }
  HugeBuffer& operator=(HugeBuffer&& other) noexcept {
    swap(other);
    return *this;
  }
  ~HugeBuffer() {
    if (map_ != nullptr) ::munmap(map_, mapped_);
  }

  /// Commits every page: now, or as the thread's CommitLater says.
  void populate() { commit_pages({reinterpret_cast<std::byte*>(data_), bytes()}); }

  T* data() noexcept { return data_; }
  const T* data() const noexcept { return data_; }
  T& operator[](std::size_t i) noexcept { return data_[i]; }
  const T& operator[](std::size_t i) const noexcept { return data_[i]; }
  std::size_t size() const noexcept { return count_; }
  std::size_t bytes() const noexcept { return count_ * sizeof(T); }

 private:
  static constexpr std::size_t kHugePage = std::size_t{2} << 20;
  void swap(HugeBuffer& other) noexcept {
    std::swap(map_, other.map_);
    std::swap(mapped_, other.mapped_);
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
  }

  void* map_ = nullptr;
  std::size_t mapped_ = 0;
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace parshall
