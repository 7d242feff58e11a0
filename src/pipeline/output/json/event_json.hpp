// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "pipeline/measure/tasks/event.hpp"

namespace parshall {

/// Returns one line, without its end:
/// {"time_ns":...,"window":{...},"task":"...","key":{...}|null,"values":{...},"exact":true|false,"error":{...}}.
/// `time_ns` is that of the window's last packet.
std::string event_json(const Event& event);

/// Returns the key as text: "10.0.0.0/8 -> 192.0.2.1:443 TCP"; empty without a key.
std::string event_key_text(const Event& event);

}  // namespace parshall
