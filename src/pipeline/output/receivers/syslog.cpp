// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/receivers/syslog.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>
#include <utility>

#include "base/host_name.hpp"
#include "pipeline/output/json/alarm_json.hpp"
#include "pipeline/output/json/event_json.hpp"
#include "pipeline/output/receivers/pending_alarms.hpp"
#include "pipeline/output/target_options.hpp"
#include "pipeline/output/text/alarm_text.hpp"
#include "pipeline/output/transport/address.hpp"

namespace parshall {
namespace {

constexpr std::string_view kUdpPort = "514", kTcpPort = "601", kTlsPort = "6514";  // IANA
constexpr std::array<std::string_view, 24> kFacilities{"kern",   "user",     "mail",   "daemon", "auth",     "syslog",
                                                       "lpr",    "news",     "uucp",   "cron",   "authpriv", "ftp",
                                                       "ntp",    "security", "audit",  "clock",  "local0",   "local1",
                                                       "local2", "local3",   "local4", "local5", "local6",   "local7"};

bool take_facility(const std::string& value, SyslogTarget& target) {
  const auto found = std::ranges::find(kFacilities, value);
  target.facility = static_cast<unsigned>(found - kFacilities.begin());
  return found != kFacilities.end();
}

constexpr TargetOption<SyslogTarget> kSyslogOptions[] = {
    {"facility", "such as daemon or local0", take_facility},
    {"ca", "file of certificates to believe, by TLS", take_transport_text<SyslogTarget, &Transport::ca>},
    {"cert", "file of a certificate of ours, by TLS", take_transport_text<SyslogTarget, &Transport::cert>},
    {"key", "file of its key", take_transport_text<SyslogTarget, &Transport::key>},
    {"name", "of the receiver in its certificate", take_transport_text<SyslogTarget, &Transport::name>},
};

/// Returns a time with microseconds, the most that RFC 5424 allows.
std::string timestamp(std::uint64_t ns) {
  constexpr std::size_t kDigitsOfNs = 3;
  std::string time = iso_time(ns);
  return time.erase(time.size() - 1 - kDigitsOfNs, kDigitsOfNs);
}

/// Returns printable characters of US-ASCII without spaces, at most `most`; "-" for none.
std::string header_word(std::string_view text, std::size_t most) {
  std::string word;
  for (const char c : text.substr(0, most)) word += c > ' ' && c < 127 ? c : '_';
  return word.empty() ? "-" : word;
}

std::string escaped_value(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '"' || c == '\\' || c == ']') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

class SyslogExporter final : public Exporter {
 public:
  explicit SyslogExporter(SyslogTarget target)
      : target_(std::move(target)), is_stream_(target_.transport.kind != Transport::Kind::udp) {}

  void alarm(const Alarm& alarm) override {
    std::string message = syslog_message(alarm, target_);
    pending_.push(is_stream_ ? fmt::format("{} {}", message.size(), message) : std::move(message));
  }

  FlushOutcome flush() override {
    send_pending();
    Deliveries sent;
    if (sink_) {
      sink_->flush();
      sent = sink_->deliveries();
    }
    const std::uint64_t not_sent = sent.not_sent.findings - tried_in_vain_ + pending_.dropped() + left_;
    FlushOutcome outcome;
    outcome.trouble = sink_ ? sink_->trouble() : trouble_;
    outcome.held.findings = pending_.messages().size() + sent.waiting.findings;
    outcome.not_sent.findings = not_sent - std::exchange(told_not_sent_, not_sent);
    outcome.unconfirmed.findings =
        sent.unconfirmed.findings - std::exchange(told_unconfirmed_, sent.unconfirmed.findings);
    return outcome;
  }

  void finish() override {
    constexpr std::chrono::seconds kPatience{5};
    constexpr std::chrono::milliseconds kNap{20};
    const auto until = Clock::now() + kPatience;
    for (send_pending(); !pending_.empty() && Clock::now() < until; send_pending()) std::this_thread::sleep_for(kNap);
    left_ = pending_.messages().size();
    pending_.pop(left_);
    if (sink_) sink_->finish();
  }

  std::uint64_t memory_bytes(std::span<const ColumnInfo>) const override { return PendingAlarms::kBytes; }

 private:
  using Clock = std::chrono::steady_clock;

  void send_pending() {
    if (!sink_ && !connect()) return;
    while (!pending_.empty()) {
      const std::string& message = pending_.messages().front();
      (void)sink_->session();  // connects again
      if (!sink_->send({reinterpret_cast<const std::uint8_t*>(message.data()), message.size()}, {.findings = 1})) {
        ++tried_in_vain_;
        return;
      }
      pending_.pop();
    }
  }

  /// Tries to reach the receiver, at most once a second.
  bool connect() {
    constexpr std::chrono::seconds kAgain{1};
    if (tried_ != Clock::time_point() && Clock::now() - tried_ < kAgain) return false;
    auto sink = open_message_sink(target_.transport);
    tried_ = Clock::now();
    if (!sink) {
      trouble_ = sink.error().message;
      return false;
    }
    sink_ = *std::move(sink);
    return true;
  }

  SyslogTarget target_;
  bool is_stream_;
  std::unique_ptr<MessageSink> sink_;  ///< null until the receiver was reached
  std::string trouble_;
  Clock::time_point tried_{};
  PendingAlarms pending_;
  std::uint64_t tried_in_vain_ = 0, left_ = 0;  ///< messages to be sent again, and those left at the end
  std::uint64_t told_not_sent_ = 0, told_unconfirmed_ = 0;
};

}  // namespace

Result<SyslogTarget> SyslogTarget::parse(const std::string& text) {
  SyslogTarget target{.transport = {}, .host = header_word(host_name(), 255)};
  const auto place = take_options<SyslogTarget>(text, kSyslogOptions, target);
  if (!place) return place.error();
  std::string_view address = *place;
  if (!take_scheme(address, target.transport))
    return Error{fmt::format("\"{}\": give udp://HOST:PORT, tcp://HOST:PORT or tls://HOST:PORT", *place)};
  using Kind = Transport::Kind;
  const Kind kind = target.transport.kind;
  const std::string_view port = kind == Kind::udp ? kUdpPort : kind == Kind::tcp ? kTcpPort : kTlsPort;
  if (auto error = take_address(std::string(address), port, target.transport)) return *error;
  return target;
}

std::string syslog_message(const Alarm& alarm, const SyslogTarget& target) {
  constexpr std::array kSeverityOf{6u, 4u, 2u};  // informational, warning, critical
  const unsigned priority = 8 * target.facility + kSeverityOf[static_cast<std::size_t>(alarm.severity)];
  const std::uint64_t at_ns = alarm.is_over() ? alarm.end_ns : alarm.begin_ns;
  std::string data = fmt::format("[alarm@{} id=\"{}\" state=\"{}\" severity=\"{}\" task=\"{}\" begin=\"{}\" end=\"{}\"",
                                 kOwnPen, alarm_id(alarm), name_of(alarm.state), name_of(alarm.severity),
                                 escaped_value(alarm.latest.task), timestamp(alarm.begin_ns), timestamp(alarm.end_ns));
  if (const std::string key = event_key_text(alarm.latest); !key.empty())
    data += fmt::format(" key=\"{}\"", escaped_value(key));
  if (!alarm.latest.values.empty())
    data += fmt::format(" value=\"{}\" peak=\"{:.15g}\"", escaped_value(alarm.latest.values.front().name), alarm.peak);
  return fmt::format("<{}>1 {} {} parshall {} {} {}] {}: {}", priority, timestamp(at_ns), target.host, ::getpid(),
                     header_word(alarm.latest.task, 32), data, name_of(alarm.state), alarm_text(alarm));
}

Result<std::unique_ptr<Exporter>> open_syslog_exporter(const std::string& target) {
  auto parsed = SyslogTarget::parse(target);
  if (!parsed) return Error{fmt::format("--export syslog:{}: {}", target, parsed.error().message)};
  return std::unique_ptr<Exporter>(std::make_unique<SyslogExporter>(*std::move(parsed)));
}

Result<OutputNeeds> syslog_needs(const std::string& target) {
  const auto parsed = SyslogTarget::parse(target);
  if (!parsed) return parsed.error();
  return needs_of(parsed->transport);
}

}  // namespace parshall
