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
#include "pipeline/output/report.hpp"

namespace parshall {

/// Where packets come from: an interface of the kernel, by its number there, or any other device.
struct ObservationPoint {
  std::string name;
  std::uint32_t index = 0;  ///< not 0
};

/// Writes what leaves while a run goes on: records as they end, what tasks find. It overrides what it has a use for.
/// One thread calls it at a time; what goes wrong it keeps, and drops what comes after.
class Exporter {
 public:
  virtual ~Exporter() = default;

  /// Before all else, where packets come from a device.
  virtual void observe_at(const ObservationPoint& point);

  /// The run goes on: what an earlier one left in its file goes.
  virtual void begin_anew();

  /// Once, before all of those below: what records consist of. It outlives the exporter.
  virtual void begin(std::span<const ColumnInfo> columns);
  virtual void records(std::span<const ReportFlow> batch);

  /// Names of such columns that what it writes has no place for. At any time.
  virtual std::vector<std::string> left_out(std::span<const ColumnInfo> columns) const;
  virtual void event(const Event& event);
  virtual void recall(const WindowRecall& told);

  /// Once: no record comes any more, and what is held is to be where it should.
  virtual void finish();

  /// Once, after that: where every packet is, and every record; `own` are this exporter's.
  virtual void accounting(const ReportSummary& summary, const OutputSummary& own);

  /// What was handed over so far is to be where it should, is held, or has failed. Now and then, too, while nothing
  /// comes.
  virtual void flush();

  /// That it takes for records of such columns, at most, beyond some KB.
  virtual std::uint64_t memory_bytes(std::span<const ColumnInfo> columns) const;

  virtual const std::optional<Error>& error() const noexcept = 0;

  /// What goes wrong at present, though it may come right again: a connection that is lost. Empty: nothing.
  virtual std::string trouble() const;

  /// Of what was handed over: what may still be lost, such as in a file that is not whole yet.
  virtual OutputSummary::Sum held() const noexcept;

  /// Of what was handed over up to the last flush(): what could not be sent, though more may be. Since it was asked
  /// last.
  virtual OutputSummary::Sum take_not_sent() noexcept;

  /// Returns what left and may have arrived or not, since it was asked last. It was handed over up to the last flush(),
  /// and may count as written by now.
  virtual OutputSummary::Sum take_unconfirmed() noexcept;

  /// Whether all that was handed over between the last two calls of flush() is lost, but what is held, though more may
  /// be written. Once.
  virtual bool take_lost() noexcept;

  /// The file that it writes, by the name that it has; empty: none.
  virtual std::string file() const;

  /// Whether it was standard output, and who read it wants no more.
  virtual bool reader_gone() const noexcept { return false; }
};

/// Which of it an exporter has a use for.
struct ExporterTakes {
  bool records = false, findings = false;
};

/// An exporter that keeps or calls, and does not fail.
class InnerExporter : public Exporter {
 public:
  const std::optional<Error>& error() const noexcept override;
};

/// An exporter into a file, by what went wrong with that.
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
