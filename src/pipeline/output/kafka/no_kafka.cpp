// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "pipeline/output/kafka/kafka.hpp"

namespace parshall {

Result<std::unique_ptr<Exporter>> open_kafka_exporter(const std::string& target) {
  return Error{
      fmt::format("--export kafka:{}: this program was built without Kafka: install librdkafka-dev, and build it "
                  "anew",
                  target)};
}

}  // namespace parshall
