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
#include "pipeline/output/exporter.hpp"
#include "pipeline/output/records/ended_record.hpp"

namespace parshall {

/// Options of an exporter's queue.
struct ExportOptions {
  static constexpr std::size_t kBytes = std::size_t{64} << 20;

  std::string name;       ///< name in the accounting
  std::string file = {};  ///< file that it opened, if not `name` (as with a time in its name); else empty
  ExporterTakes takes = {.records = true, .findings = false};
  bool waits = false;  ///< true: put() waits for room, because the source can wait; false: the newest record is dropped
                       ///< and counted
  /// Receives each record that a failed exporter has not written, in the exporter's thread. If it is empty, these
  /// records are dropped and counted.
  std::function<void(std::span<const std::byte> record)> give_back = {};
  std::size_t bytes = kBytes;  ///< room for waiting records
};

/// Queue of ended records and findings for an exporter, which runs in its own thread.
///
/// Memory: memory_bytes().
class ExportQueue {
 public:
  static constexpr std::size_t kFindings = 16384, kFindingBytes = std::size_t{8} << 20;  ///< most findings that wait

  ExportQueue(std::unique_ptr<Exporter> exporter, const Schema& schema, ExportOptions options);
  ~ExportQueue();
  ExportQueue(const ExportQueue&) = delete;
  ExportQueue& operator=(const ExportQueue&) = delete;

  enum class Put : std::uint8_t { taken, dropped, given_back };

  // For one thread. Only what the exporter takes may be put, and nothing after finished_within().

  /// Queues a record: a header and the flow's row.
  Put put(std::span<const std::byte> record);
  void put(const Event& event);
  void put(const WindowRecall& told);
  void put(const Alarm& alarm);

  /// Makes put() stop waiting for room; what is left is not written. Any thread.
  void abandon() noexcept {
    abandoned_.store(true, std::memory_order_release);
    bell_.wake();
  }

  /// Notes that the run has started: an old file is emptied even if no record has come yet. Any thread.
  void note_run_began() noexcept {
    run_began_.store(true, std::memory_order_release);
    bell_.wake();
  }

  /// Waits until everything put has been written or the exporter has failed. Returns false after `most`.
  bool finished_within(std::chrono::milliseconds most);

  // After finished_within(), the caller may use the exporter:

  void write_live(const ReportFlow& flow);  ///< writes a flow that has not ended; it is counted like the others
  void write_last(const Alarm& alarm);      ///< writes an alarm that ends with the run
  void flush_live();
  void finish_live();  ///< ends the flows
  Exporter& exporter() noexcept { return *exporter_; }

  /// Notes that it started after the run's beginning, or that it stops before the run's end.
  void note_part_of_run() noexcept { part_of_run_.store(true, std::memory_order_relaxed); }

  // For any thread:

  const std::string& name() const noexcept { return options_.name; }
  const std::string& file() const noexcept { return options_.file; }
  /// Returns the columns of records that the exporter cannot represent.
  const std::vector<std::string>& left_out() const noexcept { return left_out_; }
  const ExporterTakes& takes() const noexcept { return options_.takes; }
  std::uint64_t memory_bytes() const noexcept { return memory_bytes_; }

  /// Returns a problem that may be temporary, as of the last flush; empty if there is none.
  std::string trouble() const;

  /// Returns why the exporter has stopped for good, if it has.
  std::optional<Error> error() const;

  /// Returns whether it wrote to standard output and the reader has closed it.
  bool reader_gone() const noexcept { return reader_gone_.load(std::memory_order_relaxed); }

  /// Returns whether records were lost because of a problem, even if the exporter continues.
  bool lost_some() const noexcept { return lost_some_.load(std::memory_order_relaxed); }

  /// Returns whether the exporter has stopped for good.
  bool failed() const noexcept { return failed_.load(std::memory_order_acquire); }

  /// Returns whether finished_within() would return true at once.
  bool is_done() const noexcept { return ended_.load(std::memory_order_acquire); }

  /// Returns the summary; records put in the meantime may be missing.
  OutputSummary summary() const;

 private:
  using Finding = std::variant<Event, WindowRecall, Alarm>;
  static constexpr std::size_t kBatch = 256, kFindingBatch = 64, kUnflushedBytes = std::size_t{1} << 20,
                               kLiveBatch = 4096;  ///< large, so that a full disk gets as much as it has room for

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
      run_began_{false}, part_of_run_{false}, packets_beyond_columns_{false}, reader_gone_{false};
  const bool has_packets_, has_reverse_packets_;  ///< columns
  Doorbell bell_;
  Tally offered_, written_, unconfirmed_, dropped_;

  mutable std::mutex trouble_mutex_;
  std::string trouble_;
  std::optional<Error> error_;

  std::mutex findings_mutex_;
  FindingList<Finding> findings_{kFindings, kFindingBytes};

  std::optional<RecordRing> unflushed_;  ///< records that may not have been written yet, if they would be given back
  std::uint64_t live_ = 0;               ///< live records so far
  OutputSummary::Sum handed_over_;       ///< records given to the exporter, and neither written nor dropped

  std::vector<FlowRecord> batch_;  ///< batch of the exporter's thread, with as many rows of values
  std::vector<Value> values_;
  std::vector<char> texts_;  ///< of these values, with room for a batch
  char* texts_end_ = nullptr;
  std::vector<ReportFlow> flows_;
  std::thread thread_;
};

}  // namespace parshall
