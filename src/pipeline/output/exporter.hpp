// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <span>

#include "base/result.hpp"
#include "pipeline/output/report.hpp"

namespace parshall {

/// Writes what leaves while a run goes on. One thread calls it at a time; what goes wrong it keeps, and drops what
/// comes after.
class Exporter {
 public:
  virtual ~Exporter() = default;

  /// Once, before any records: what they consist of. It outlives the exporter.
  virtual void begin(const Schema& schema) = 0;
  virtual void records(std::span<const ReportFlow> batch) = 0;
  virtual void flush() = 0;

  virtual const std::optional<Error>& error() const noexcept = 0;
};

}  // namespace parshall
