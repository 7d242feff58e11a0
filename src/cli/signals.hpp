// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace parshall::cli {

/// From now on the first SIGINT, SIGTERM or SIGHUP asks for a clean stop, the second ends the program at once, and a
/// reader that went away is an error of its write. SIGHUP only where the user did not ask to outlive it (nohup).
void catch_signals();

bool stop_asked() noexcept;

/// From now on SIGHUP asks to read the configuration again.
void reload_on_hangup();
/// Whether it did since this was asked last.
bool reload_asked() noexcept;

}  // namespace parshall::cli
