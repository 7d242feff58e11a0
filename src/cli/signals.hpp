// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace parshall::cli {

/// Installs handlers. The first SIGINT, SIGTERM or SIGHUP asks for a clean stop; another one, half a
/// second later or more, ends the program at once.
/// SIGHUP is ignored if the user asked for that (nohup). A reader that has gone becomes a write error.
void catch_signals();

bool stop_asked() noexcept;

/// Makes SIGHUP ask for reading the configuration again.
void reload_on_hangup();
/// Returns true if SIGHUP came since the last call.
bool reload_asked() noexcept;

}  // namespace parshall::cli
