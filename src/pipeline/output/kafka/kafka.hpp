// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "pipeline/output/exporter.hpp"
#include "pipeline/output/output_needs.hpp"

namespace parshall {

/// Opens an exporter of records to a Kafka topic, many in a message. At the end, the summary goes to TOPIC-accounting.
///
/// Undelivered messages are held while a broker is away, up to 64 MB. What has no room, or is not delivered within five
/// minutes, is lost and counted. Only the end of a run waits for delivery.
Result<std::unique_ptr<Exporter>> open_kafka_exporter(const std::string& target);

/// Loads librdkafka. Returns why Kafka cannot be used: this build or this machine is without it.
std::optional<Error> kafka_problem();

Result<OutputNeeds> kafka_needs(const std::string& target);

}  // namespace parshall
