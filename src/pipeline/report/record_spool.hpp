// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

namespace parshall {

/// Ended records that wait for a report: in memory first, then in an unnamed temporary file, so that neither the
/// workers nor the memory limit depend on how fast reports are read.
///
/// Memory: kMemoryBytes, or as told, and a write buffer; as much again where no temporary file can be written.
/// Full:   append() refuses the record.
class RecordSpool {
 public:
  static constexpr std::size_t kMemoryBytes = std::size_t{64} << 20;
  static constexpr std::uint64_t kUnbounded = ~std::uint64_t{0};

  /// `most_bytes`: in memory and in the file together.
  explicit RecordSpool(std::size_t memory_bytes = kMemoryBytes, std::uint64_t most_bytes = kUnbounded) noexcept
      : store_{.memory_bytes = memory_bytes, .most_bytes = most_bytes} {}
  ~RecordSpool();
  RecordSpool(const RecordSpool&) = delete;
  RecordSpool& operator=(const RecordSpool&) = delete;

  /// False, and the record is not kept, where there is no room for it. Any thread.
  bool append(std::span<const std::byte> record);

  /// Hands out every record in the order of append(). Not while another thread appends.
  void visit(const std::function<void(std::span<const std::byte>)>& visit);

  /// The same, and forgets those for which `take` returns true. Other threads may append meanwhile.
  void take(const std::function<bool(std::span<const std::byte>)>& take);

  void clear();

  /// Whether records were lost on their way back from the file.
  bool unreadable() const noexcept { return unreadable_; }

 private:
  /// First `memory`, then the file, then `tail`: what is not written yet or could not be.
  struct Store {
    std::size_t memory_bytes = kMemoryBytes;
    std::uint64_t most_bytes = kUnbounded;
    std::vector<std::byte> memory, tail;
    int file = -1;
    std::uint64_t file_bytes = 0;
    bool file_failed = false;

    bool has_room(std::size_t bytes) const noexcept;
    void keep(std::span<const std::byte> record);
    void write_tail();
    Store emptied() const noexcept { return {.memory_bytes = memory_bytes, .most_bytes = most_bytes}; }
    /// False where the file could not be read back to its end.
    bool visit(const std::function<void(std::span<const std::byte>)>& visit) const;
    void close() noexcept;
  };

  std::mutex mutex_;
  Store store_;
  bool unreadable_ = false;
};

}  // namespace parshall
