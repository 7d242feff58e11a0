// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "base/doorbell.hpp"
#include "base/record_ring.hpp"
#include "pipeline/output/ended_record.hpp"
#include "pipeline/output/exporter.hpp"

namespace parshall {

/// How an exporter is served.
struct ExportOptions {
  static constexpr std::size_t kBytes = std::size_t{64} << 20;

  std::string name;       ///< in the accounting
  std::string file = {};  ///< that it opened, where the name does not say so, as one with a time; else empty
  ExporterTakes takes = {.records = true, .findings = false};
  bool waits = false;  ///< for room, since the source can wait; else the newest is dropped, and counted
  /// Gets each record that a failed exporter has not written, by its thread; empty: they are dropped, and counted.
  std::function<void(std::span<const std::byte> record)> give_back = {};
  std::size_t bytes = kBytes;  ///< for records that wait
};

/// Ended records and findings on their way to an exporter, which has a thread of its own.
///
/// Memory: memory_bytes().
class ExportQueue {
 public:
  static constexpr std::size_t kFindings = 16384, kFindingBytes = std::size_t{8} << 20;  ///< that wait

  ExportQueue(std::unique_ptr<Exporter> exporter, const Schema& schema, ExportOptions options);
  ~ExportQueue();
  ExportQueue(const ExportQueue&) = delete;
  ExportQueue& operator=(const ExportQueue&) = delete;

  enum class Put : std::uint8_t { taken, dropped, given_back };

  // One thread. Nothing that the exporter does not take, and nothing after finished_within().

  /// A header and the flow's row.
  Put put(std::span<const std::byte> record);
  void put(const Event& event);
  void put(const WindowRecall& told);

  /// From now on nothing that is put waits for room, and what is left is not written. Any thread.
  void abandon() noexcept {
    abandoned_.store(true, std::memory_order_release);
    bell_.wake();
  }

  /// The run goes on: a file that an earlier one left is begun anew, though nothing came yet. Any thread.
  void note_run_began() noexcept {
    run_began_.store(true, std::memory_order_release);
    bell_.wake();
  }

  /// What was put has been written, or its exporter has failed.
  bool finished_within(std::chrono::milliseconds most);

  // Then the exporter is the caller's:

  void write_live(const ReportFlow& flow);  ///< of a flow that has not ended, and is counted like the others
  void flush_live();
  void finish_live();  ///< no flow comes any more
  Exporter& exporter() noexcept { return *exporter_; }
  const Exporter& exporter() const noexcept { return *exporter_; }  ///< or once it has failed

  /// It came while the run went on, or nothing comes any more though that goes on.
  void note_part_of_run() noexcept { part_of_run_.store(true, std::memory_order_relaxed); }

  // Any thread.

  const std::string& name() const noexcept { return options_.name; }
  const std::string& file() const noexcept { return options_.file; }
  /// Columns of records that the exporter has no place for.
  const std::vector<std::string>& left_out() const noexcept { return left_out_; }
  const ExporterTakes& takes() const noexcept { return options_.takes; }
  std::uint64_t memory_bytes() const noexcept { return memory_bytes_; }

  /// As of its last flush: Exporter::trouble().
  std::string trouble() const;

  /// Whether something was lost with which its exporter had trouble, though it may go on.
  bool lost_some() const noexcept { return lost_some_.load(std::memory_order_relaxed); }

  /// Whether the exporter has written all that it ever will.
  bool failed() const noexcept { return failed_.load(std::memory_order_acquire); }

  /// Whether finished_within() would say so at once.
  bool is_done() const noexcept { return ended_.load(std::memory_order_acquire); }

  /// What is offered meanwhile may be missing.
  OutputSummary summary() const;

 private:
  using Finding = std::variant<Event, WindowRecall>;
  static constexpr std::size_t kBatch = 256, kFindingBatch = 64, kUnflushedBytes = std::size_t{1} << 20,
                               kLiveBatch = 4096;  ///< so that a full disk has all that finds room

  void run();
  bool has_work();
  bool write_some();
  void read(std::span<const std::byte> record);
  void write_batch();
  bool write_findings();
  void flush();
  void begin();
  void put_finding(Finding finding);
  std::uint64_t offer(const FlowRecord& record);
  struct Tally {
    std::atomic<std::uint64_t> records{0}, packets{0}, findings{0};
    void add(std::uint64_t more_records, std::uint64_t more_packets, std::uint64_t more_findings = 0) noexcept;
    void add(const OutputSummary::Sum& sum) noexcept { add(sum.records, sum.packets, sum.findings); }
    OutputSummary::Sum read() const noexcept;
  };

  std::unique_ptr<Exporter> exporter_;
  ExportOptions options_;
  Schema schema_;
  std::optional<RecordRing> ring_;
  std::uint64_t memory_bytes_ = 0;
  std::vector<std::string> left_out_;
  bool begun_ = false;
  std::atomic<bool> finishing_{false}, abandoned_{false}, ended_{false}, failed_{false}, lost_some_{false},
      run_began_{false}, part_of_run_{false}, packets_beyond_columns_{false};
  const bool has_packets_, has_reverse_packets_;  ///< columns
  Doorbell bell_;
  Tally offered_, written_, unconfirmed_, dropped_;

  mutable std::mutex trouble_mutex_;
  std::string trouble_;

  std::mutex findings_mutex_;
  FindingList<Finding> findings_{kFindings, kFindingBytes};

  std::optional<RecordRing> unflushed_;  ///< records that may not be written yet, where they would be given back
  std::uint64_t live_ = 0;               ///< records that came at once
  OutputSummary::Sum handed_over_;       ///< to the exporter, and neither written nor dropped

  std::vector<FlowRecord> batch_;  ///< of the exporter's thread, with as many rows of values
  std::vector<Value> values_;
  std::vector<ReportFlow> flows_;
  std::thread thread_;
};

}  // namespace parshall
