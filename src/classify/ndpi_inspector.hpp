// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>

#include "base/result.hpp"
#include "pipeline/measure/labels/inspector.hpp"

namespace parshall {

/// Loads nDPI. Returns why it cannot be used: this build or this machine is without it.
std::optional<Error> ndpi_problem();

/// Returns an inspector that uses nDPI. A guess by the port alone is no label. Error: ndpi_problem().
///
/// Cost: about 1 us a packet that is inspected, and 1 KB a connection (nDPI 4.2).
Result<std::unique_ptr<Inspector>> make_ndpi_inspector();

}  // namespace parshall
