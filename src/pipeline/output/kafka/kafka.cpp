// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/kafka/kafka.hpp"

#include <fmt/format.h>
#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/late_library.hpp"
#include "pipeline/output/json/flow_json.hpp"
#include "pipeline/output/json/summary_json.hpp"
#include "pipeline/output/kafka/flow_message.hpp"
#include "pipeline/output/kafka/target.hpp"
#include "pipeline/output/records/account_columns.hpp"

namespace parshall {
namespace {

constexpr std::size_t kReasonBytes = 512;
constexpr int kReachMs = 5000, kRoomPollMs = 10;
/// Time to wait for room, while brokers take data or while they are away, and for purged messages.
constexpr std::chrono::milliseconds kRoomSlow{5000}, kRoomAway{100}, kPurge{1000};
/// A message ends with the record that brings it to this size. Brokers and librdkafka accept 1 MB by default.
constexpr std::size_t kMessageBytes = 900'000, kQueueBytes = std::size_t{64} << 20;

using Clock = std::chrono::steady_clock;

/// Functions of librdkafka.
struct Librdkafka {
  LateLibrary loader{PARSHALL_LIBRDKAFKA, "Kafka"};
  LATE_FUNCTION(conf_new, rd_kafka_conf_new);
  LATE_FUNCTION(conf_destroy, rd_kafka_conf_destroy);
  LATE_FUNCTION(conf_set, rd_kafka_conf_set);
  LATE_FUNCTION(conf_set_opaque, rd_kafka_conf_set_opaque);
  LATE_FUNCTION(conf_set_dr_msg_cb, rd_kafka_conf_set_dr_msg_cb);
  LATE_FUNCTION(conf_set_error_cb, rd_kafka_conf_set_error_cb);
  LATE_FUNCTION(conf_set_log_cb, rd_kafka_conf_set_log_cb);
  LATE_FUNCTION(new_client, rd_kafka_new);
  LATE_FUNCTION(destroy, rd_kafka_destroy);
  LATE_FUNCTION(metadata, rd_kafka_metadata);
  LATE_FUNCTION(metadata_destroy, rd_kafka_metadata_destroy);
  LATE_FUNCTION(producev, rd_kafka_producev);
  LATE_FUNCTION(poll, rd_kafka_poll);
  LATE_FUNCTION(flush, rd_kafka_flush);
  LATE_FUNCTION(purge, rd_kafka_purge);
  LATE_FUNCTION(err2str, rd_kafka_err2str);
};

const Librdkafka& librdkafka() { return functions_of_library<Librdkafka>(); }

struct Destroy {
  void operator()(rd_kafka_t* producer) const noexcept { librdkafka().destroy(producer); }
  void operator()(rd_kafka_conf_t* config) const noexcept { librdkafka().conf_destroy(config); }
};
using Producer = std::unique_ptr<rd_kafka_t, Destroy>;
using Config = std::unique_ptr<rd_kafka_conf_t, Destroy>;

std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count());
}

std::string json_text(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Messages in flight, and their results; used by the polling thread.
struct DeliveryReports {
  OutputSummary::Sum in_flight, lost;
  bool account_is_there = false;
  std::string trouble;
};

class KafkaExporter final : public Exporter {
 public:
  KafkaExporter(KafkaTarget target, Producer producer, std::unique_ptr<DeliveryReports> deliveries)
      : target_(std::move(target)), deliveries_(std::move(deliveries)), producer_(std::move(producer)) {
    names_ = fmt::format("{{\"probe\":{},\"run\":\"{}\"", json_text(target_.probe), run_);
  }

  void begin(std::span<const ColumnInfo> columns) override {
    if (target_.as_json)
      json_.emplace(columns);
    else
      protobuf_.emplace(columns, ExportRun{target_.probe, run_});
  }

  std::vector<std::string> left_out(std::span<const ColumnInfo> columns) const override {
    return target_.as_json ? std::vector<std::string>() : columns_without_field(columns);
  }

  void records(std::span<const ReportFlow> batch) override {
    const std::uint64_t now = now_ns();
    for (const ReportFlow& flow : batch) {
      put(flow, now);
      in_message_ += {.records = 1, .packets = flow.record.all_packets()};
      if (in_message_.records == target_.batch || message_.size() >= kMessageBytes) send();
    }
  }

  FlushOutcome flush() override {
    send();
    librdkafka().poll(producer_.get(), 0);
    FlushOutcome outcome;
    outcome.error = error_;
    outcome.trouble = deliveries_->trouble;
    outcome.held = deliveries_->in_flight + in_message_;
    outcome.not_sent = std::exchange(deliveries_->lost, {});
    return outcome;
  }

  /// Sends the rest. Messages that no broker acknowledges within the time are lost.
  void finish() override {
    send();
    until_ = Clock::now() + target_.wait;
    wait_for_delivery(target_.wait);
    if (deliveries_->in_flight == OutputSummary::Sum()) return;
    librdkafka().purge(producer_.get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    wait_for_delivery(kPurge);
  }

  /// Sends the account, in the time that finish() left.
  void accounting(const ReportSummary& summary, const OutputSummary& own) override {
    const std::string topic = target_.topic + "-accounting",
                      text = fmt::format("{},\"output\":{},{}", names_, json_text(own.name),
                                         std::string_view(summary_json(summary)).substr(1));
    std::string& probe = target_.probe;
    const rd_kafka_resp_err_t wrong =
        librdkafka().producev(producer_.get(), RD_KAFKA_V_TOPIC(topic.c_str()),
                              RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(probe.data(), probe.size()),
                              RD_KAFKA_V_VALUE(const_cast<char*>(text.data()), text.size()), RD_KAFKA_V_END);
    wait_for_delivery(std::max(kPurge, std::chrono::duration_cast<std::chrono::milliseconds>(until_ - Clock::now())));
    if (deliveries_->account_is_there) return;
    const std::string& trouble = deliveries_->trouble;
    error_ = Error{fmt::format("--export kafka:{}: the account did not get to {}: {}", target_.text, topic,
                               wrong != RD_KAFKA_RESP_ERR_NO_ERROR ? librdkafka().err2str(wrong)
                               : trouble.empty()                   ? "no broker took it"
                                                                   : trouble)};
  }

  std::uint64_t memory_bytes(std::span<const ColumnInfo>) const override { return kQueueBytes + 2 * kMessageBytes; }

 private:
  void put(const ReportFlow& flow, std::uint64_t now) {
    if (protobuf_) return protobuf_->put(flow, sequence_++, now, message_);
    const std::size_t begin = message_.size();
    message_.resize(begin + names_.size() + json_->longest() + 1);
    char* const object = std::ranges::copy(names_, message_.data() + begin).out;
    char* const end = json_->put(object, flow);
    *object = ',';
    *end = '\n';
    message_.resize(static_cast<std::size_t>(end + 1 - message_.data()));
  }

  void send() {
    if (in_message_.records == 0) return;
    auto sum = std::make_unique<OutputSummary::Sum>(std::exchange(in_message_, {}));
    const rd_kafka_resp_err_t wrong = produce(sum.get());
    if (wrong == RD_KAFKA_RESP_ERR_NO_ERROR) {
      deliveries_->in_flight += *sum;
      static_cast<void>(sum.release());  // told_of() owns it
    } else {
      deliveries_->lost += *sum;
      deliveries_->trouble = librdkafka().err2str(wrong);
    }
    message_.clear();
  }

  /// Sends a message. A full queue gets a moment to drain, longer if brokers are only slow. Sources that can wait do so
  /// in that time.
  rd_kafka_resp_err_t produce(OutputSummary::Sum* sum) {
    const auto began = Clock::now();
    for (;;) {
      const rd_kafka_resp_err_t wrong = librdkafka().producev(
          producer_.get(), RD_KAFKA_V_TOPIC(target_.topic.c_str()), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
          RD_KAFKA_V_VALUE(message_.data(), message_.size()), RD_KAFKA_V_OPAQUE(sum), RD_KAFKA_V_END);
      const auto most = deliveries_->trouble.empty() ? kRoomSlow : kRoomAway;
      if (wrong != RD_KAFKA_RESP_ERR__QUEUE_FULL || Clock::now() - began >= most) return wrong;
      librdkafka().poll(producer_.get(), kRoomPollMs);
    }
  }

  void wait_for_delivery(std::chrono::milliseconds most) {
    librdkafka().flush(producer_.get(), static_cast<int>(most.count()));
  }

  KafkaTarget target_;
  std::string run_ = new_run();
  std::string names_;  ///< beginning of each object
  std::unique_ptr<DeliveryReports> deliveries_;
  Producer producer_;  ///< destroyed before the data that its last reports are written to
  std::optional<FlowMessages> protobuf_;
  std::optional<FlowJson> json_;
  std::string message_;
  OutputSummary::Sum in_message_;
  std::uint64_t sequence_ = 0;
  std::optional<Error> error_;
  Clock::time_point until_{};  ///< deadline of delivery; later messages are lost
};

void told_of(rd_kafka_t*, const rd_kafka_message_t* message, void* opaque) {
  const std::unique_ptr<OutputSummary::Sum> sum(static_cast<OutputSummary::Sum*>(message->_private));
  auto& deliveries = *static_cast<DeliveryReports*>(opaque);
  if (sum == nullptr) {
    deliveries.account_is_there = message->err == RD_KAFKA_RESP_ERR_NO_ERROR;
    if (!deliveries.account_is_there) deliveries.trouble = librdkafka().err2str(message->err);
    return;
  }
  deliveries.in_flight = deliveries.in_flight - *sum;
  if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) return deliveries.trouble.clear();
  deliveries.lost += *sum;
  deliveries.trouble = librdkafka().err2str(message->err);
}

std::optional<Error> set(rd_kafka_conf_t* config, const std::string& name, const std::string& value) {
  std::array<char, kReasonBytes> reason{};
  if (librdkafka().conf_set(config, name.c_str(), value.c_str(), reason.data(), reason.size()) == RD_KAFKA_CONF_OK)
    return std::nullopt;
  return Error{reason.data()};
}

std::optional<Error> set_from_file(rd_kafka_conf_t* config, const std::string& path) {
  std::ifstream file(path);
  if (!file) return Error{fmt::format("config={}: {}", path, std::strerror(errno))};
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.empty() || line.starts_with('#')) continue;
    const std::size_t equals = line.find('=');
    if (equals == line.npos) return Error{fmt::format("{}, line {}: NAME=VALUE is wanted", path, number)};
    if (const auto wrong = set(config, line.substr(0, equals), line.substr(equals + 1)))
      return Error{fmt::format("{}, line {}: {}", path, number, wrong->message)};
  }
  return std::nullopt;
}

Result<Config> make_config(const KafkaTarget& target, DeliveryReports& deliveries) {
  Config config(librdkafka().conf_new());
  for (const auto& [name, value] : {std::pair<std::string, std::string>("bootstrap.servers", target.brokers),
                                    {"compression.type", target.compression},
                                    {"enable.idempotence", "true"},
                                    {"linger.ms", "50"},
                                    {"queue.buffering.max.kbytes", fmt::to_string(kQueueBytes >> 10)},
                                    {"queue.buffering.max.messages", "1000000"}})
    if (const auto wrong = set(config.get(), name, value)) return *wrong;
  if (!target.config.empty())
    if (const auto wrong = set_from_file(config.get(), target.config)) return *wrong;
  librdkafka().conf_set_opaque(config.get(), &deliveries);
  librdkafka().conf_set_dr_msg_cb(config.get(), told_of);
  librdkafka().conf_set_error_cb(config.get(), [](rd_kafka_t*, int wrong, const char* reason, void* opaque) {
    std::string& trouble = static_cast<DeliveryReports*>(opaque)->trouble;
    if (wrong != RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN || trouble.empty()) trouble = reason;  // else less specific
  });
  librdkafka().conf_set_log_cb(config.get(), [](const rd_kafka_t*, int, const char*, const char*) {});
  return config;
}

/// Checks that at least one broker answers.
std::optional<Error> reach(rd_kafka_t* producer, const std::string& brokers, const DeliveryReports& deliveries) {
  const struct rd_kafka_metadata* metadata = nullptr;
  const rd_kafka_resp_err_t wrong = librdkafka().metadata(producer, 0, nullptr, &metadata, kReachMs);
  if (metadata != nullptr) librdkafka().metadata_destroy(metadata);
  if (wrong == RD_KAFKA_RESP_ERR_NO_ERROR) return std::nullopt;
  librdkafka().poll(producer, 0);  // delivers the reason to the callback
  return Error{fmt::format("cannot reach any broker of {}: {}", brokers,
                           deliveries.trouble.empty() ? librdkafka().err2str(wrong) : deliveries.trouble)};
}

}  // namespace

std::optional<Error> kafka_problem() { return librdkafka().loader.problem(); }

Result<std::unique_ptr<Exporter>> open_kafka_exporter(const std::string& target) {
  const auto wrong = [&](const Error& error) {
    return Error{fmt::format("--export kafka:{}: {}", target, error.message)};
  };
  if (const auto problem = kafka_problem()) return wrong(*problem);
  const auto parsed = KafkaTarget::parse(target);
  if (!parsed) return wrong(parsed.error());
  auto deliveries = std::make_unique<DeliveryReports>();
  auto config = make_config(*parsed, *deliveries);
  if (!config) return wrong(config.error());
  std::array<char, kReasonBytes> reason{};
  Producer producer(librdkafka().new_client(RD_KAFKA_PRODUCER, config->get(), reason.data(), reason.size()));
  if (!producer) return wrong(Error{reason.data()});
  static_cast<void>(config->release());  // the producer owns it
  if (const auto problem = reach(producer.get(), parsed->brokers, *deliveries)) return wrong(*problem);
  return std::unique_ptr<Exporter>(
      std::make_unique<KafkaExporter>(*parsed, std::move(producer), std::move(deliveries)));
}

}  // namespace parshall
