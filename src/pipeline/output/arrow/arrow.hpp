// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "pipeline/output/exporter.hpp"

namespace parshall {

/// Writes records as an Arrow IPC stream: batches as they come, at most a tenth of a second late. The last one has no
/// rows; its metadata are the account, as "parshall.NAME".
std::unique_ptr<Exporter> make_arrow_exporter(std::unique_ptr<Output> output);

}  // namespace parshall
