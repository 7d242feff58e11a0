// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "pipeline/output/exporter.hpp"

namespace parshall {

/// Writes records as an Arrow IPC stream, in batches that are at most a tenth of a second late. The last batch has no
/// rows; its metadata is the account, as "parshall.NAME".
std::unique_ptr<Exporter> make_arrow_exporter(std::unique_ptr<Output> output);

}  // namespace parshall
