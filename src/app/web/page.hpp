// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "web/access.hpp"
#include "web/server.hpp"

namespace parshall::web {

inline constexpr const char *kPagePath = "/", *kStatePath = "/api/state", *kHistoryPath = "/api/history",
                            *kEventsPath = "/api/events";

/// Opens a server with the web page, which also serves what Feed publishes.
Result<std::unique_ptr<Server>> open_page(const Access& access);

}  // namespace parshall::web
