// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace parshall {

/// What is behind "kafka:".
struct KafkaTarget {
  std::string text;  ///< all of it
  std::string brokers, topic;
  std::string probe;                       ///< who exports
  bool as_json = false;                    ///< else as FlowMessage
  std::string compression = "zstd";        ///< or what librdkafka knows else
  std::uint64_t batch = 1000;              ///< records in a message
  std::chrono::milliseconds wait{10'000};  ///< for what is not delivered, in the end
  std::string config;                      ///< file of librdkafka's own settings, NAME=VALUE each; empty: none

  /// "HOST:PORT,HOST:PORT/TOPIC,OPTION=VALUE".
  static Result<KafkaTarget> parse(const std::string& text);
};

}  // namespace parshall
