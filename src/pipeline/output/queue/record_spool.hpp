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

/// Limits of a spool.
struct SpoolLimits {
  static constexpr std::uint64_t kUnbounded = ~std::uint64_t{0};

  std::size_t memory_bytes = std::size_t{32} << 20;  ///< bytes in memory before a file is written
  std::uint64_t all_bytes = kUnbounded;              ///< bytes in memory and in files
  std::uint64_t without_file_bytes = kUnbounded;     ///< bytes in memory beyond memory_bytes, if no file can be written
};

/// Ended records that wait for a report: in memory first, then in an unnamed temporary file. So neither the workers nor
/// the memory limit depend on how fast reports are read.
///
/// Memory: as its limits say, and a write buffer; as much again for records taken and still kept.
/// Full:   append() refuses the record.
class RecordSpool {
  struct Store;

 public:
  explicit RecordSpool(const SpoolLimits& limits = {}) noexcept : limits_(limits) {}
  RecordSpool(const RecordSpool&) = delete;
  RecordSpool& operator=(const RecordSpool&) = delete;

  /// Appends a record. Returns false and drops it if there is no room. Any thread.
  bool append(std::span<const std::byte> record);

  /// Visits every record in the order of append(). No other thread may append at that time.
  void visit(const std::function<void(std::span<const std::byte>)>& visit);

  /// Records that were taken, including those that went back. It must be destroyed before the spool.
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

  /// Visits every record likewise, and removes those for which `take` returns true. Other threads may append.
  Taken take(const std::function<bool(std::span<const std::byte>)>& take);

  /// Returns whether records were lost because a file could not be read back.
  bool unreadable() const noexcept { return unreadable_; }

 private:
  /// Records in order: first `memory`, then the file, then `tail`, which is not written yet or could not be.
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
    /// Visits all records. Returns false if the file could not be read to its end.
    bool visit(const std::function<void(std::span<const std::byte>)>& visit) const;
  };

  bool has_room(std::size_t bytes) const noexcept;

  SpoolLimits limits_;
  std::mutex mutex_;
  std::unique_ptr<Store> store_;               ///< null until a record comes
  std::atomic<std::uint64_t> taken_bytes_{0};  ///< bytes in all Taken objects
  std::atomic<bool> unreadable_{false};
};

}  // namespace parshall
