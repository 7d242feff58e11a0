// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "pipeline/output/receivers/webhook.hpp"

namespace parshall {

Result<std::unique_ptr<Exporter>> open_webhook_exporter(const std::string& target) {
  return Error{fmt::format(
      "--export webhook:{}: this program was built without webhooks: install libcurl4-openssl-dev, and build it anew",
      target)};
}

}  // namespace parshall
