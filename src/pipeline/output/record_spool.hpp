// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace parshall {

/// How much a spool may hold.
struct SpoolLimits {
  static constexpr std::uint64_t kUnbounded = ~std::uint64_t{0};

  std::size_t memory_bytes = std::size_t{32} << 20;  ///< before a file is written
  std::uint64_t all_bytes = kUnbounded;              ///< in memory and in files
  std::uint64_t without_file_bytes = kUnbounded;     ///< more than memory_bytes in memory, where none can be written
};

/// Ended records that wait for a report: in memory first, then in an unnamed temporary file, so that neither the
/// workers nor the memory limit depend on how fast reports are read.
///
/// Memory: as its limits say, and a write buffer; as much again for what was taken and is still kept.
/// Full:   append() refuses the record.
class RecordSpool {
  struct Store;

 public:
  explicit RecordSpool(const SpoolLimits& limits = {}) noexcept : limits_(limits) {}
  RecordSpool(const RecordSpool&) = delete;
  RecordSpool& operator=(const RecordSpool&) = delete;

  /// False, and the record is not kept, where there is no room for it. Any thread.
  bool append(std::span<const std::byte> record);

  /// Hands out every record in the order of append(). Not while another thread appends.
  void visit(const std::function<void(std::span<const std::byte>)>& visit);

  /// Records that were taken, those too that went back: until it goes, which must be before the spool does.
  class Taken {
   public:
    Taken(Taken&& other) noexcept;
    Taken& operator=(Taken&& other) = delete;
    ~Taken();
    void visit(const std::function<void(std::span<const std::byte>)>& visit) const;

   private:
    friend RecordSpool;
    Taken(RecordSpool& spool, std::unique_ptr<Store> store);
    RecordSpool* spool_;
    std::unique_ptr<Store> store_;
  };

  /// The same, and forgets those for which `take` returns true. Other threads may append meanwhile.
  Taken take(const std::function<bool(std::span<const std::byte>)>& take);

  /// Whether records were lost on their way back from a file.
  bool unreadable() const noexcept { return unreadable_; }

 private:
  /// First `memory`, then the file, then `tail`: what is not written yet or could not be.
  struct Store {
    Store() = default;
    ~Store();
    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;

    std::vector<std::byte> memory, tail;
    int file = -1;
    std::uint64_t file_bytes = 0;
    bool file_failed = false;

    std::uint64_t bytes() const noexcept { return memory.size() + file_bytes + tail.size(); }
    void keep(std::span<const std::byte> record, const SpoolLimits& limits);
    void write_tail(const SpoolLimits& limits);
    /// False where the file could not be read back to its end.
    bool visit(const std::function<void(std::span<const std::byte>)>& visit) const;
  };

  bool has_room(std::size_t bytes) const noexcept;

  SpoolLimits limits_;
  std::mutex mutex_;
  std::unique_ptr<Store> store_;               ///< null until a record comes
  std::atomic<std::uint64_t> taken_bytes_{0};  ///< of all Taken
  std::atomic<bool> unreadable_{false};
};

}  // namespace parshall
