// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/fnv.hpp"
#include "base/host_name.hpp"
#include "base/parse.hpp"
#include "base/read_ip.hpp"
#include "pipeline/output/json/alarm_json.hpp"
#include "pipeline/output/json/event_json.hpp"
#include "pipeline/output/receivers/webhook.hpp"
#include "pipeline/output/target_options.hpp"
#include "pipeline/output/text/alarm_text.hpp"
#include "pipeline/output/transport/address.hpp"
#include "pipeline/output/transport/connection.hpp"

namespace parshall {
namespace {

using nlohmann::ordered_json;

bool take_format(const std::string& value, WebhookTarget& target) {
  using Format = WebhookTarget::Format;
  constexpr std::pair<std::string_view, Format> kFormats[] = {{"json", Format::json},
                                                              {"alertmanager", Format::alertmanager},
                                                              {"slack", Format::slack},
                                                              {"mattermost", Format::slack}};
  const auto found = std::ranges::find(kFormats, value, &std::pair<std::string_view, Format>::first);
  if (found == std::end(kFormats)) return false;
  target.format = found->second;
  return true;
}

template <std::string WebhookTarget::*kText>
bool take_file(const std::string& value, WebhookTarget& target) {
  target.*kText = value;
  return !value.empty();
}

constexpr TargetOption<WebhookTarget> kWebhookOptions[] = {
    {"format", "json, alertmanager, slack or mattermost", take_format},
    {"token", "file with a token for \"Authorization: Bearer\"", take_file<&WebhookTarget::token>},
    {"ca", "file of certificates to believe, by https", take_file<&WebhookTarget::ca>},
    {"probe", "a name for this monitor, up to 255 bytes", take_probe<WebhookTarget>},
};

std::string dumped_json(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

ordered_json alertmanager_json(const Alarm& alarm, const WebhookTarget& target) {
  constexpr std::uint64_t kOpenNs = 86'400'000'000'000;  // else it counts as resolved after some minutes
  const std::uint64_t latest = std::numeric_limits<std::uint64_t>::max() - kOpenNs;
  const std::uint64_t ends_ns = alarm.is_over() ? alarm.end_ns : std::min(alarm.end_ns, latest) + kOpenNs;
  ordered_json json{{"labels",
                     {{"alertname", alarm.latest.task},
                      {"severity", name_of(alarm.severity)},
                      {"instance", target.probe},
                      {"key", event_key_text(alarm.latest)},
                      {"id", alarm_id(alarm)}}},
                    {"annotations", {{"summary", alarm_text(alarm)}}},
                    {"startsAt", iso_time(alarm.begin_ns)},
                    {"endsAt", iso_time(ends_ns)}};
  return json;
}

}  // namespace

Result<WebhookTarget> WebhookTarget::parse(const std::string& text) {
  WebhookTarget target{.url = {}, .host = {}, .port = {}, .token = {}, .ca = {}, .probe = host_name()};
  auto place = take_options<WebhookTarget>(text, kWebhookOptions, target);
  if (!place) return place.error();
  target.url = *std::move(place);
  target.is_tls = target.url.starts_with("https://");
  if (!target.is_tls && !target.url.starts_with("http://"))
    return Error{fmt::format("\"{}\": give http://HOST:PORT/PATH or https://HOST:PORT/PATH", target.url)};
  std::string authority = target.url.substr(target.url.find("://") + 3);
  authority = authority.substr(0, authority.find_first_of("/?#"));
  authority = authority.substr(authority.rfind('@') + 1);
  Transport transport;
  if (const auto error = take_address(authority, target.is_tls ? "443" : "80", transport)) return *error;
  target.host = transport.host;
  target.port = transport.port;
  return target;
}

std::string webhook_message(const Alarm& alarm, const WebhookTarget& target) {
  if (target.format == WebhookTarget::Format::json) return alarm_json(alarm);
  if (target.format == WebhookTarget::Format::alertmanager) return dumped_json(alertmanager_json(alarm, target));
  return fmt::format("{}: {} ({})", name_of(alarm.state), alarm_text(alarm), target.probe);
}

std::string webhook_body(std::span<const std::string> messages, const WebhookTarget& target) {
  if (target.format == WebhookTarget::Format::alertmanager) return fmt::format("[{}]", fmt::join(messages, ","));
  if (target.format == WebhookTarget::Format::json)
    return fmt::format("{{\"probe\":{},\"alarms\":[{}]}}", dumped_json(target.probe), fmt::join(messages, ","));
  std::string text;
  for (const char c : fmt::format("{}", fmt::join(messages, "\n")))  // as chats want it
    text += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  return dumped_json({{"text", text}});
}

std::string webhook_shown(const std::string& text) {
  const auto target = WebhookTarget::parse(text);
  if (!target) return "";
  constexpr std::uint64_t kMark = 0xFFFF;
  return fmt::format("{}://{}:{}/...{:04x}", target->is_tls ? "https" : "http", target->host, target->port,
                     fnv1a(text) & kMark);
}

Result<OutputNeeds> webhook_needs(const std::string& text) {
  const auto target = WebhookTarget::parse(text);
  if (!target) return target.error();
  Transport transport{.kind = target->is_tls ? Transport::Kind::tls : Transport::Kind::tcp,
                      .host = target->host,
                      .port = target->port,
                      .path = {},
                      .ca = target->ca,
                      .cert = {},
                      .key = {},
                      .name = {}};
  OutputNeeds needs = needs_of(transport);
  if (!target->token.empty()) needs.reads.push_back(target->token);
  return needs;
}

}  // namespace parshall
