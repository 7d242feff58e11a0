// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "app/send_orders.hpp"
#include "base/file_handle.hpp"
#include "base/parse.hpp"
#include "parshall/marks.hpp"
#include "parshall/send_choices.hpp"
#include "parshall/wire_outputs.hpp"
#include "pipeline/capture/device_name.hpp"
#include "pipeline/decode/dscp.hpp"
#include "pipeline/measure/states/state_plan.hpp"
#include "pipeline/measure/tasks/alarm_rules.hpp"
#include "pipeline/measure/tasks/registry.hpp"
#include "pipeline/output/ipfix/target.hpp"
#include "pipeline/output/kafka/target.hpp"
#include "pipeline/output/parquet/target.hpp"
#include "pipeline/output/receivers/syslog.hpp"
#include "pipeline/output/receivers/webhook.hpp"
#include "pipeline/output/records/host_names.hpp"
#include "pipeline/output/records/schema.hpp"
#include "targets.hpp"
#include "tester/closed_loop/endpoint.hpp"
#include "tester/device/settings.hpp"
#include "tester/search/search_goal.hpp"
#include "tester/watch_loss/monitor_command.hpp"
#include "traffic/frame_sizes.hpp"
#include "traffic/send_schedule.hpp"

namespace parshall::fuzz {
namespace {

template <class T>
void require_reason(const Result<T>& result) {
  require(result || !result.error().message.empty());
}

/// A number is of digits, with a point and an exponent at most, in front of its unit.
bool looks_like_number(const std::string& text) {
  return !text.empty() && (std::isdigit(static_cast<unsigned char>(text[0])) != 0 || text[0] == '.') &&
         text.find_first_not_of("0123456789.eE+-kKMGinumsh") == std::string::npos;
}

void count(const std::string& text) {
  const auto number = parse_count(text);
  if (!number) return;
  require(looks_like_number(text));
  require(parse_count(fmt::format("{}", *number)) == number);
}

void duration(const std::string& text) {
  const auto ns = parse_duration_ns(text);
  if (!ns) return;
  require(looks_like_number(text));
  if (*ns <= std::uint64_t{1} << 53) require(parse_duration_ns(fmt::format("{}ns", *ns)) == ns);
}

void window(const std::string& text) {
  const auto length = parse_window(text);
  require_reason(length);
  if (length) require(length->amount >= 1000);
}

void rate(const std::string& text) {
  const auto rate = SendRate::parse(text);
  require_reason(rate);
  if (!rate) return;
  const auto again = SendRate::parse(rate->text());
  require(again && again->unit == rate->unit && std::fabs(again->value - rate->value) <= 0.01 * rate->value);
}

void frame_sizes(const std::string& text) {
  const auto sizes = FrameSizes::parse(text);
  if (!sizes) return;
  require(sizes->least() >= FrameSizes::kLeast && sizes->least() <= sizes->most() &&
          sizes->most() <= FrameSizes::kMost);
  for (const std::uint16_t bytes : sizes->deal(50, 1)) require(bytes >= sizes->least() && bytes <= sizes->most());
}

void device_name(const std::string& text) {
  const auto device = DeviceName::parse(text);
  require_reason(device);
  if (!device) return;
  require(!device->name.empty());
  const std::string whole =
      device->kind == DeviceKind::vdev ? fmt::format("vdev:{},{}", device->name, device->args) : device->name;
  const auto again = DeviceName::parse(whole);
  require(again && again->kind == device->kind && again->name == device->name && again->args == device->args);
  static_cast<void>(device->ends());
}

void dscp(const std::string& text) {
  const auto dscp = parse_dscp(text);
  if (dscp) require(*dscp < kDscps && parse_dscp(dscp_name(*dscp)) == dscp);
}

void prefix(const std::string& text) {
  const auto prefix = Prefix::parse(text);
  require_reason(prefix);
  if (!prefix) return;
  require(text.find('\0') == std::string::npos);
  FlowKey flow;
  flow.ip_version = prefix->ip_version;
  std::copy_n(prefix->address.begin(), flow.address_bytes(), flow.address.begin());
  require(prefix->has(flow));
  if (prefix->bits == 0) return;
  // Neither of its addresses agrees any more.
  flow.address[0] ^= 0x80;
  flow.address[flow.address_bytes()] = static_cast<std::uint8_t>(~prefix->address[0]);
  require(!prefix->has(flow));
}

void key_part(const std::string& text) {
  const auto part = KeyPart::parse(text);
  require_reason(part);
  if (!part) return;
  FlowKey flow;
  flow.ip_version = 6;
  flow.protocol = 6;
  flow.address.fill(0xA5);
  flow.src_port_bytes = flow.dst_port_bytes = {1, 2};
  require(part->of(part->of(flow)) == part->of(flow));
  require(part->within(KeyFields::five_tuple));
}

void columns(const std::string& text) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at <= text.size() && names.size() < 8;) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    names.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  const auto schema = Schema::make(names, {});
  require_reason(schema);
  if (!schema) return;
  std::vector<std::string> said;
  for (const ColumnInfo& column : schema->asked()) {
    require(std::find(said.begin(), said.end(), column.name) == said.end());
    said.push_back(column.name);
  }
  const auto again = Schema::make(said, {});
  require(again.has_value() && again->columns().size() == schema->columns().size());
  for (std::size_t i = 0; i < said.size(); ++i) require(again->asked()[i].name == said[i]);
}

void ipfix_target(const std::string& text) {
  for (const FlowProtocol protocol : {FlowProtocol::ipfix, FlowProtocol::netflow9}) {
    const auto target = IpfixTarget::parse(text, protocol);
    require_reason(target);
    if (!target) continue;
    require(target->writer.message_bytes >= 512 && target->writer.message_bytes <= 65535);
    require(target->probe.size() <= 255 && target->transport.rate_bps >= 0);
    const bool goes_far = target->transport.kind != Transport::Kind::file;
    require(goes_far || protocol == FlowProtocol::ipfix);
    require(!goes_far || (!target->transport.host.empty() && !target->transport.port.empty()));
  }
}

void receiver_target(const std::string& text) {
  const auto syslog = SyslogTarget::parse(text);
  require_reason(syslog);
  if (syslog) require(syslog->facility < 24 && !syslog->transport.host.empty() && !syslog->transport.port.empty());
  const auto webhook = WebhookTarget::parse(text);
  require_reason(webhook);
  if (webhook) require(webhook->url.starts_with("http") && !webhook->host.empty() && !webhook->port.empty());
}

/// What can be said of alarms: whatever is read has a severity, and times of the day that are some.
void alarm_rules(const std::string& text) {
  auto arguments = Arguments::parse("--alarms", text, kAlarmParameters);
  require_reason(arguments);
  if (!arguments) return;
  AlarmRules rules;
  rules.take(*arguments);
  if (arguments->problem()) return require(!arguments->problem()->message.empty());
  require(rules.severity <= Severity::critical);
  if (rules.quiet) require(rules.quiet->begin_min <= 1440 && rules.quiet->end_min <= 1440);
}

void parquet_target(const std::string& text) {
  const auto target = ParquetTarget::parse(text);
  require_reason(target);
  if (target)
    require(target->bytes >= 1'000'000 && target->level >= 1 && target->level <= 19 && target->every.count() >= 100);
}

void kafka_target(const std::string& text) {
  const auto target = KafkaTarget::parse(text);
  require_reason(target);
  if (target)
    require(!target->brokers.empty() && !target->topic.empty() && target->batch >= 1 && target->batch <= 10'000);
}

void output_plan(const std::string& text) {
  const auto output = parse_output(text);
  require_reason(output);
  if (output) require(!output->target.empty() && output->kind + ":" + output->target == text);
}

void goal(const std::string& text) {
  const auto goal = tester::parse_goal(text);
  require_reason(goal);
  if (goal) require(!tester::problem_of({&*goal, 1}) && goal->initial_trial_s <= goal->final_trial_s);
}

void endpoint(const std::string& text) {
  const auto endpoint = tester::Endpoint::parse(text);
  require_reason(endpoint);
  if (!endpoint) return;
  require(text.find('\0') == std::string::npos);
  const auto again = tester::Endpoint::parse(endpoint->text());
  require(again && again->text() == endpoint->text() && again->port() == endpoint->port());
}

void scenario_settings(const std::string& text) {
  constexpr std::array<std::string_view, 3> kNames{"rate", "flows", "limit"};
  const auto settings = tester::parse_settings("fuzz", text, kNames);
  require_reason(settings);
  if (!settings) return;
  std::string again;
  for (const auto& [name, value] : *settings) {
    require(!value.empty());
    again += fmt::format("{}{}={}", again.empty() ? "" : ",", name, value);
  }
  require(again == text);
}

/// A program's own words, and the number that is looked for in what it says.
void monitored_program(const std::string& text) {
  const auto words = tester::command_words(text);
  require_reason(words);
  if (words) {
    std::string quoted;
    bool can_be = true;
    for (const std::string& word : *words) {
      const bool has_single = word.find('\'') != std::string::npos;
      can_be = can_be && !(has_single && word.find('"') != std::string::npos);
      quoted += fmt::format("{0}{1}{0} ", has_single ? '"' : '\'', word);
    }
    if (can_be) {
      const auto again = tester::command_words(quoted);
      require(again && *again == *words);
    }
    for (const std::string& word : tester::for_interface(*words, "eth0"))
      require(word.find("{interface}") == std::string::npos || text.find("{{interface}") != std::string::npos);
  }
  static const auto pattern = tester::CountPattern::parse("([0-9]+) packets captured");
  const auto found = pattern->find(text);
  if (found) require(text.find(fmt::format("{} packets captured", *found)) != std::string::npos);
  if (text.find("packets captured") == std::string::npos) require(!found);
}

void marks(const std::string& text) {
  const std::vector<std::string> classes{"web", "dns", "a=b"};
  const auto plan = plan_marks(std::array{text}, classes, classes.size());
  require_reason(plan);
  if (!plan) return;
  require(plan->size() == classes.size() + 1);
  require(std::count_if(plan->begin(), plan->end(), [](const auto& mark) { return mark.has_value(); }) == 1);
  require(!describe_marks(*plan, classes).empty());
}

/// A file of names of addresses: a line that is read names its address or network.
void host_names(const std::string& text) {
  const auto names = HostNames::parse(text, "hosts");
  require_reason(names);
  const auto one = HostNames::parse("10.1.2.3 x\n" + text, "hosts");
  require(one.has_value() == names.has_value());
  if (one) require(one->find_listed(std::array<std::uint8_t, 4>{10, 1, 2, 3}) == "x");
}

/// Of `parshall send`: a word a line.
void send_options(const std::string& text) {
  Input in({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  SendOptions options;
  const std::uint64_t flags = in.byte();
  options.nowhere = (flags & 1) != 0;
  options.kept = (flags & 2) != 0;
  options.fresh_flows = (flags & 4) != 0;
  for (std::string* const word : {&options.rate, &options.ramp, &options.line_rate, &options.count, &options.duration,
                                  &options.wait, &options.source_mac, &options.destination_mac, &options.traffic}) {
    const std::string line = in.text_until('\n');
    if (!line.empty()) *word = line;
  }
  if (options.traffic.empty()) options.capture = "x";
  const auto choices = choose(options);
  require_reason(choices);
  if (!choices) return;
  require(choices->plan.burst >= 1 && choices->line_bps >= 0);
  const auto of_line = on_line(choices->plan, 1e10);
  require(of_line && of_line->rate.unit != SendRate::Unit::line_share);
}

/// What a user types while a program runs comes a line at a time.
void prompt(const std::string& text) {
  constexpr std::size_t kLongest = 4096;
  if (text.size() > kLongest) return;
  const FileHandle file(::memfd_create("fuzz", MFD_CLOEXEC));
  const FileHandle was(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  require(file && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  require(::lseek(file.get(), 0, SEEK_SET) == 0 && ::dup2(file.get(), STDIN_FILENO) == STDIN_FILENO);
  cli::Prompt prompt;
  std::string all;
  while (const auto line = prompt.line()) {
    require(line->find('\n') == std::string::npos);
    all += *line + "\n";
  }
  require(prompt.ended());
  require(all == text || all == text + "\n");
  if (was) ::dup2(was.get(), STDIN_FILENO);
}

constexpr void (*kReaders[])(const std::string& text) = {count,
                                                         duration,
                                                         window,
                                                         rate,
                                                         frame_sizes,
                                                         device_name,
                                                         dscp,
                                                         prefix,
                                                         key_part,
                                                         columns,
                                                         goal,
                                                         endpoint,
                                                         marks,
                                                         ipfix_target,
                                                         parquet_target,
                                                         kafka_target,
                                                         output_plan,
                                                         send_options,
                                                         prompt,
                                                         scenario_settings,
                                                         monitored_program,
                                                         receiver_target,
                                                         alarm_rules,
                                                         host_names};

}  // namespace

/// Input: which reader, then what it reads: a word that a user gives, or a program says.
void fuzz_words(Bytes input) {
  constexpr std::size_t kLongest = 2000;
  if (input.size() > kLongest) return;
  Input in(input);
  kReaders[in.byte() % std::size(kReaders)](in.text());
}

}  // namespace parshall::fuzz
