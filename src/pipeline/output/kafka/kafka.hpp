// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>

#include "pipeline/output/exporter.hpp"
#include "pipeline/output/output_needs.hpp"

namespace parshall {

/// Opens an exporter of records to a Kafka topic, many in a message. At the end, the summary goes to TOPIC-accounting.
///
/// Undelivered messages are held while a broker is away, up to 64 MB. What has no room, or is not delivered within five
/// minutes, is lost and counted. Only the end of a run waits for delivery. In a program built without Kafka, this fails
/// with an error that says so.
Result<std::unique_ptr<Exporter>> open_kafka_exporter(const std::string& target);

Result<OutputNeeds> kafka_needs(const std::string& target);

}  // namespace parshall
