// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "pipeline/output/alarms/alarm.hpp"
#include "pipeline/output/output.hpp"
#include "pipeline/output/output_summary.hpp"
#include "pipeline/output/text/report.hpp"

namespace parshall {

/// Place where packets come from: a kernel interface with its index, or any other device.
struct ObservationPoint {
  std::string name;
  std::uint32_t index = 0;  ///< nonzero
};

/// Result of a flush for the data handed over: records, their packets, and findings, which include alarms.
struct FlushOutcome {
  std::optional<Error> error;   ///< set once the exporter has failed for good: it drops later data
  std::string trouble;          ///< a problem that may be temporary, such as a lost connection; empty if there is none
  OutputSummary::Sum held;      ///< data that may still be lost, such as in an incomplete file
  OutputSummary::Sum not_sent;  ///< data that could not be sent; later data may be
  OutputSummary::Sum unconfirmed;  ///< data sent without knowing whether it arrived; it may count as written already
  bool lost = false;               ///< all data since the last flush is lost, except `held`; later data may be written
  bool reader_gone = false;        ///< it wrote to standard output, and the reader has closed it
};

/// Writes data that leaves a run while it goes on: records as they end, findings of tasks, and alarms. A subclass
/// overrides what it needs. One thread calls it at a time. An exporter that has failed drops later data.
class Exporter {
 public:
  virtual ~Exporter() = default;

  /// Sets where packets come from, if it is a device. Called first.
  virtual void observe_at(const ObservationPoint& point);

  /// Notes that the run has started: old contents of its file are discarded.
  virtual void begin_anew();

  /// Sets the columns of records. Called once, before all functions below. The columns outlive the exporter.
  virtual void begin(std::span<const ColumnInfo> columns);
  virtual void records(std::span<const ReportFlow> batch);

  /// Sets what its records are called, if they are not flows. Called before begin().
  virtual void name_rows(RowNames names);

  /// Returns which of these columns its format cannot represent. May be called at any time.
  virtual std::vector<std::string> left_out(std::span<const ColumnInfo> columns) const;
  virtual void event(const Event& event);
  virtual void recall(const WindowRecall& told);
  /// Takes an alarm that began, ended or is still open at the end of the run.
  virtual void alarm(const Alarm& alarm);

  /// Ends the records. Everything held must be written. Called once, and followed by a flush().
  virtual void finish();

  /// Writes the account of every packet and every record. `own` describes this exporter. Called once, after finish(),
  /// and followed by a flush().
  virtual void accounting(const ReportSummary& summary, const OutputSummary& own);

  /// Writes everything handed over since the last call, or holds it, or fails. Also called now and then while no data
  /// comes.
  virtual FlushOutcome flush();

  /// Returns the most memory that it takes for records of these columns, beyond some KB.
  virtual std::uint64_t memory_bytes(std::span<const ColumnInfo> columns) const;

  /// Returns the current name of the file that it writes; empty if there is none.
  virtual std::string file() const;
};

/// Says which data an exporter uses.
struct ExporterTakes {
  bool records = false, findings = false;
  bool groups = true;                                                          ///< false: its records are always flows
  enum class Alarms : std::uint8_t { none, all, told } alarms = Alarms::none;  ///< told: those that call for someone

  bool takes(const Alarm& alarm) const noexcept {
    const bool calls = alarm.muted == Alarm::Muted::no && alarm.state != Alarm::State::open;
    return alarms == Alarms::all || (alarms == Alarms::told && calls);
  }
};

/// Exporter into a file, whose errors are the file's.
class FileExporter : public Exporter {
 public:
  explicit FileExporter(std::unique_ptr<Output> output) noexcept : output_(std::move(output)) {}
  void begin_anew() override;
  FlushOutcome flush() override;
  void finish() override;
  std::string file() const override;

 protected:
  Output& output() noexcept { return *output_; }

 private:
  std::unique_ptr<Output> output_;
};

}  // namespace parshall
