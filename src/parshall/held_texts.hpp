// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "parshall/plan.hpp"

namespace parshall {

/// Reads the files of models, states and profiles that the plan names, as they are: wire() will look at what they say,
/// with fewer rights. What cannot be read is left to wire(), which says so.
void hold_texts(Plan& plan);

}  // namespace parshall
