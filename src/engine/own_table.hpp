// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "engine/flow_stage.hpp"

namespace parshall {

/// A worker's table: a base of its monitor, so that it is made before what asks for the number of its slots.
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
