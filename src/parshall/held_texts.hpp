// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "base/result.hpp"
#include "parshall/plan.hpp"

namespace parshall {

/// Reads the files of models, states and profiles that the plan names, as they are: wire() will look at what they say,
/// with fewer rights. What cannot be read is left to wire(), which says so.
void hold_texts(Plan& plan);

/// Compiles the source's filter for packets of every kind: names of hosts in it are asked for now. Error: libpcap's, of
/// the filter.
std::optional<Error> hold_filter(SourcePlan& source);

}  // namespace parshall
