// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "engine/flow_stage.hpp"

namespace parshall::lab {

/// Makes a stage whose table stores nothing, so that it only decodes and hashes.
std::unique_ptr<FlowStage> make_decode_alone(const FlowStageOptions& options);

}  // namespace parshall::lab
