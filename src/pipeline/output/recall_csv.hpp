// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "pipeline/output/exporter.hpp"

namespace parshall {

/// A header, and a line for each window and task: what is not known, and the kind of bounds that the window does not
/// have, is empty.
std::unique_ptr<Exporter> make_recall_exporter(std::unique_ptr<Output> output);

}  // namespace parshall
