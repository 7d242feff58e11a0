// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "engine/flow_stage.hpp"

namespace parshall {

/// Holds a worker's table as a base class, so that it is constructed before members that need its slot count.
template <FlowTable Table>
class OwnTable {
 protected:
  OwnTable(const FlowStageOptions& options, FlowSink& sink)
      : grow_by_(options.grow_by),
        table_(options.flows, options.timeouts, sink,
               {.populate = options.populate, .grow_by = grow_by_ ? &*grow_by_ : nullptr}) {}

 private:
  std::optional<FlowIdentity> grow_by_;

 protected:
  Table table_;
};

}  // namespace parshall
