// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/kafka/kafka.hpp"

namespace parshall {

std::optional<Error> kafka_problem() {
  return Error{"this program was built without Kafka: install librdkafka-dev, and build it anew"};
}

Result<std::unique_ptr<Exporter>> open_kafka_exporter(const std::string&) { return *kafka_problem(); }

}  // namespace parshall
