// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "monitor/watch_options.hpp"

namespace parshall::cli {

/// Opens the source that the options name, with as many lanes as the thread model asks.
Result<Input> open_input(const WatchOptions& options, const SessionOptions& session);

}  // namespace parshall::cli
