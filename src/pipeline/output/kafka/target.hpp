// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace parshall {

/// Target of an export: the text behind "kafka:".
struct KafkaTarget {
  std::string text;  ///< the whole text
  std::string brokers, topic;
  std::string probe;                       ///< name of the exporter
  bool as_json = false;                    ///< true: JSON; false: FlowMessage
  std::string compression = "zstd";        ///< or another method of librdkafka
  std::uint64_t batch = 1000;              ///< records in a message
  std::chrono::milliseconds wait{10'000};  ///< limit at the end for undelivered messages
  std::string config;                      ///< file with settings of librdkafka, NAME=VALUE each; empty: none

  /// Parses "HOST:PORT,HOST:PORT/TOPIC,OPTION=VALUE".
  static Result<KafkaTarget> parse(const std::string& text);
};

}  // namespace parshall
