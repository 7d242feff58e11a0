// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "pipeline/output/exporter.hpp"

namespace parshall {

/// Writes a header, then a line for each window and task. Unknown values are empty, and so are the columns for bounds
/// of the kind that the window does not have.
std::unique_ptr<Exporter> make_recall_exporter(std::unique_ptr<Output> output);

}  // namespace parshall
