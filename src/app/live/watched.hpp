// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

#include "pipeline/output/text/report.hpp"

namespace parshall::live {

/// The view's interface to a run. One thread calls the functions of the second group; any thread may call the rest.
class Watched {
 public:
  virtual ~Watched() = default;

  virtual std::uint64_t packets_polled() const = 0;
  virtual bool finished() const = 0;

  virtual void begin_snapshot() = 0;
  virtual std::optional<Report> poll_snapshot() = 0;  ///< of live flows; unset if not ready, as after finished()
  virtual Report final_report() = 0;                  ///< waits for the end
  virtual void change_columns(Schema schema) = 0;
};

}  // namespace parshall::live
