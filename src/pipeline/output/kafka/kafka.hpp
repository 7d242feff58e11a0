// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>

#include "pipeline/output/exporter.hpp"
#include "pipeline/output/output_needs.hpp"

namespace parshall {

/// Records to a topic of Kafka, many in a message; in the end the summary to TOPIC-accounting.
///
/// What is not delivered is held, and waits for a broker that is away as long as 64 MB of it have room; what has no
/// room, or is not delivered in five minutes, is lost, and counted. Nothing waits for it but a run's end. Where the
/// program was built without Kafka, this says so.
Result<std::unique_ptr<Exporter>> open_kafka_exporter(const std::string& target);

Result<OutputNeeds> kafka_needs(const std::string& target);

}  // namespace parshall
