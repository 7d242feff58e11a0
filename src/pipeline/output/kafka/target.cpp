// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/kafka/target.hpp"

#include <fstream>

#include "base/host_name.hpp"
#include "base/parse.hpp"
#include "pipeline/output/kafka/kafka.hpp"
#include "pipeline/output/target_options.hpp"

namespace parshall {
namespace {

bool take_format(const std::string& value, KafkaTarget& target) {
  target.as_json = value == "json";
  return value == "json" || value == "protobuf";
}
bool take_compression(const std::string& value, KafkaTarget& target) {
  target.compression = value;
  return value == "none" || value == "zstd" || value == "lz4" || value == "gzip" || value == "snappy";
}
bool take_batch(const std::string& value, KafkaTarget& target) {
  constexpr std::uint64_t kMost = 10'000;
  const auto records = parse_count(value);
  target.batch = records.value_or(0);
  return target.batch >= 1 && target.batch <= kMost;
}
bool take_wait(const std::string& value, KafkaTarget& target) {
  const auto ns = parse_duration_ns(value);
  if (!ns) return false;
  target.wait = std::chrono::milliseconds(*ns / 1'000'000);
  return true;
}
bool take_config(const std::string& value, KafkaTarget& target) {
  target.config = value;
  return !value.empty();
}

constexpr TargetOption<KafkaTarget> kKafkaOptions[] = {
    {"format", "protobuf (goflow2's FlowMessage) or json", take_format},
    {"compression", "zstd, lz4, gzip, snappy or none", take_compression},
    {"batch", "records in a message, from 1 to 10000", take_batch},
    {"wait", "time, such as 10s, for what is not delivered in the end", take_wait},
    {"probe", "a name for who exports, in each record, up to 255 bytes", take_probe<KafkaTarget>},
    {"config", "file of librdkafka's settings, NAME=VALUE in each line", take_config},
};

}  // namespace

Result<KafkaTarget> KafkaTarget::parse(const std::string& text) {
  KafkaTarget target{.text = text, .brokers = {}, .topic = {}, .probe = host_name()};
  const auto place = take_options<KafkaTarget>(text, kKafkaOptions, target);
  if (!place) return place.error();
  const std::size_t slash = place->find('/');
  target.brokers = place->substr(0, slash);
  target.topic = slash == place->npos ? "" : place->substr(slash + 1);
  if (target.brokers.empty() || target.topic.empty())
    return Error{"give HOST:PORT/TOPIC, or HOST:PORT,HOST:PORT/TOPIC"};
  return target;
}

namespace {

/// Detects whether librdkafka uses Kerberos tickets with these settings, for which it runs kinit.
class Kerberos {
 public:
  void look(const std::string& line) {
    const std::size_t equals = line.find('=');
    if (equals == line.npos) return;
    const std::string name = line.substr(0, equals), value = line.substr(equals + 1);
    if (name == "security.protocol") has_sasl_ = value.find("sasl") != value.npos || value.find("SASL") != value.npos;
    if (name == "sasl.mechanisms" || name == "sasl.mechanism") mechanism_ = value;
  }
  bool is_asked() const { return has_sasl_ && mechanism_ == "GSSAPI"; }

 private:
  bool has_sasl_ = false;
  std::string mechanism_ = "GSSAPI";  ///< librdkafka's default
};

}  // namespace

/// Brokers report the ports of other brokers. Settings that are paths name certificates, keys and libraries.
Result<OutputNeeds> kafka_needs(const std::string& target) {
  const auto parsed = KafkaTarget::parse(target);
  if (!parsed) return parsed.error();
  OutputNeeds needs{.connects_anywhere = true, .uses_network = true, .asks_for_names = true};
  if (parsed->config.empty()) return needs;
  needs.reads.push_back(parsed->config);
  std::ifstream file(parsed->config);
  Kerberos kerberos;
  for (std::string line; std::getline(file, line);) {
    kerberos.look(line);
    if (line.starts_with("test.mock.")) needs.listens = true;  // brokers inside librdkafka
    if (const std::size_t path = line.find("=/"); path != line.npos && !line.starts_with('#'))
      needs.reads.push_back(line.substr(path + 1));
  }
  if (kerberos.is_asked()) needs.runs_program = "kinit";
  return needs;
}

}  // namespace parshall
