// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "cli/options.hpp"
#include "parshall/send_choices.hpp"

namespace parshall::cli {

void declare(Command command, SendOptions& options);

}  // namespace parshall::cli
