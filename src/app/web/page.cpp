// SPDX-License-Identifier: Apache-2.0
#include "app/web/page.hpp"

#include "app/web/page_bytes.hpp"  // made by embed.py

namespace parshall::web {

Result<std::unique_ptr<Server>> open_page(const Access& access) {
  auto server = Server::open({.name = "--web " + access.address.text(),
                              .address = access.address,
                              .token = access.token,
                              .policy = kPagePolicy});
  if (!server) return server;
  constexpr const char* kJson = "application/json";
  (*server)->add({.path = kPagePath, .type = "text/html; charset=utf-8", .is_public = true});
  (*server)->publish(kPagePath, std::string(kPage));
  (*server)->add({.path = kStatePath, .type = kJson, .delivery = Delivery::next, .has_queries = true});
  (*server)->add({.path = kHistoryPath, .type = kJson});
  (*server)->add({.path = kEventsPath, .type = "text/event-stream", .delivery = Delivery::stream, .has_queries = true});
  return server;
}

}  // namespace parshall::web
