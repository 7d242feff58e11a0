// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "base/record_ring.hpp"
#include "pipeline/output/ended_record.hpp"
#include "pipeline/output/exporter.hpp"

namespace parshall {

/// What became of records that were to be exported: offered = written + waiting + dropped.
struct ExportCounts {
  struct Sum {
    std::uint64_t offered = 0, written = 0, dropped = 0;
    std::uint64_t waiting() const noexcept { return offered - written - dropped; }
  };
  Sum records, packets;
};

/// Ended records on their way to an exporter, which has a thread of its own.
///
/// Memory: `bytes`, and a batch.
/// Full:   where the source waits, put() does; else the newest record is dropped, and counted.
class ExportQueue {
 public:
  static constexpr std::size_t kBytes = std::size_t{64} << 20;
  using GiveBack = std::function<void(std::span<const std::byte> record)>;

  /// `give_back` gets each record that a failed exporter has not written: by its thread.
  ExportQueue(std::unique_ptr<Exporter> exporter, Schema schema, bool waits, GiveBack give_back,
              std::size_t bytes = kBytes);
  ~ExportQueue();
  ExportQueue(const ExportQueue&) = delete;
  ExportQueue& operator=(const ExportQueue&) = delete;

  enum class Put : std::uint8_t { taken, dropped, given_back };

  /// A header and the flow's row. One thread.
  Put put(std::span<const std::byte> record);

  /// What was put has been written, or its exporter has failed. Then the exporter is the caller's. No put() after it.
  bool finished_within(std::chrono::milliseconds most);
  Exporter& exporter() noexcept { return *exporter_; }

  /// Whether the exporter has written all that it ever will. Any thread.
  bool failed() const noexcept { return failed_.load(std::memory_order_acquire); }

  /// Any thread. What is offered meanwhile may be missing.
  ExportCounts counts() const noexcept;

 private:
  static constexpr std::size_t kBatch = 256, kUnflushedBytes = std::size_t{1} << 20;

  void run();
  void read(std::span<const std::byte> record);
  void write_batch();
  void flush();
  void begin();
  struct Tally {
    std::atomic<std::uint64_t> records{0}, packets{0};
    void add(std::uint64_t more_records, std::uint64_t more_packets) noexcept;
  };

  std::unique_ptr<Exporter> exporter_;
  Schema schema_;
  RecordRing ring_;
  bool waits_, begun_ = false;
  std::atomic<bool> finishing_{false}, abandoned_{false}, ended_{false}, failed_{false};
  Tally offered_, written_, dropped_;

  GiveBack give_back_;
  RecordRing unflushed_{kUnflushedBytes};  ///< records that may not be written yet
  std::uint64_t unflushed_records_ = 0, unflushed_packets_ = 0;

  std::vector<FlowRecord> batch_;  ///< of the exporter's thread, with as many rows of values
  std::vector<Value> values_;
  std::vector<ReportFlow> flows_;
  std::thread thread_;
};

}  // namespace parshall
