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
#include "pipeline/output/output.hpp"
#include "pipeline/output/output_summary.hpp"
#include "pipeline/output/text/report.hpp"

namespace parshall {

/// Place where packets come from: a kernel interface with its index, or any other device.
struct ObservationPoint {
  std::string name;
  std::uint32_t index = 0;  ///< nonzero
};

/// Writes data that leaves a run while it goes on: records as they end, and findings of tasks. A subclass overrides
/// what it needs. One thread calls it at a time. After an error, the exporter keeps the error and drops later data.
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

  /// Returns which of these columns its format cannot represent. May be called at any time.
  virtual std::vector<std::string> left_out(std::span<const ColumnInfo> columns) const;
  virtual void event(const Event& event);
  virtual void recall(const WindowRecall& told);

  /// Ends the records. Everything held must be written. Called once.
  virtual void finish();

  /// Writes the account of every packet and every record. `own` describes this exporter. Called once, after finish().
  virtual void accounting(const ReportSummary& summary, const OutputSummary& own);

  /// Writes everything handed over so far, or keeps it as held(), or fails. Also called now and then while no data
  /// comes.
  virtual void flush();

  /// Returns the most memory that it takes for records of these columns, beyond some KB.
  virtual std::uint64_t memory_bytes(std::span<const ColumnInfo> columns) const;

  virtual const std::optional<Error>& error() const noexcept = 0;

  /// Returns a problem that may be temporary, such as a lost connection; empty if there is none.
  virtual std::string trouble() const;

  /// Returns the part of the data handed over that may still be lost, such as in an incomplete file.
  virtual OutputSummary::Sum held() const noexcept;

  /// Returns what could not be sent since the last call, of the data handed over up to the last flush(). More data may
  /// still be sent.
  virtual OutputSummary::Sum take_not_sent() noexcept;

  /// Returns what was sent since the last call without knowing whether it arrived. It was handed over up to the last
  /// flush(), and may already count as written.
  virtual OutputSummary::Sum take_unconfirmed() noexcept;

  /// Returns, once, whether everything handed over between the last two flush() calls is lost, except held(). More data
  /// may still be written.
  virtual bool take_lost() noexcept;

  /// Returns the current name of the file that it writes; empty if there is none.
  virtual std::string file() const;

  /// Returns whether it wrote to standard output and the reader has closed it.
  virtual bool reader_gone() const noexcept { return false; }
};

/// Says which data an exporter uses.
struct ExporterTakes {
  bool records = false, findings = false;
};

/// Exporter that only stores data or calls functions, and cannot fail.
class InnerExporter : public Exporter {
 public:
  const std::optional<Error>& error() const noexcept override;
};

/// Exporter into a file, whose errors are the file's.
class FileExporter : public Exporter {
 public:
  explicit FileExporter(std::unique_ptr<Output> output) noexcept : output_(std::move(output)) {}
  void begin_anew() override;
  void flush() override;
  void finish() override;
  const std::optional<Error>& error() const noexcept override;
  std::string trouble() const override;
  bool take_lost() noexcept override;
  std::string file() const override;
  bool reader_gone() const noexcept override;

 protected:
  Output& output() noexcept { return *output_; }

 private:
  std::unique_ptr<Output> output_;
};

}  // namespace parshall
