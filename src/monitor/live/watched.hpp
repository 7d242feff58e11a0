// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

#include "pipeline/output/report.hpp"

namespace parshall::live {

/// A run as the view sees it. One thread calls what is in the second group, any thread the rest.
class Watched {
 public:
  virtual ~Watched() = default;

  virtual std::uint64_t packets_polled() const = 0;
  virtual bool finished() const = 0;

  virtual void begin_snapshot() = 0;
  virtual std::optional<Report> poll_snapshot() = 0;  ///< of the live flows; nothing yet, or never once finished()
  virtual Report final_report() = 0;                  ///< waits for the end
  virtual void change_columns(Schema schema) = 0;
};

}  // namespace parshall::live
