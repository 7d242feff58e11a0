// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/result.hpp"
#include "pipeline/output/exporter.hpp"
#include "pipeline/output/output_needs.hpp"

namespace parshall {

/// Target of alarms by HTTP: the text behind "webhook:".
struct WebhookTarget {
  enum class Format : std::uint8_t { json, alertmanager, slack };

  std::string url, host, port;
  bool is_tls = false;
  Format format = Format::json;
  std::string token;  ///< file with a bearer token; empty: none
  std::string ca;     ///< file of trusted certificates in PEM; empty: those of the system
  std::string probe;  ///< name of this monitor in messages

  /// Parses "http://HOST:PORT/PATH,OPTION=VALUE" or "https://...".
  static Result<WebhookTarget> parse(const std::string& text);
};

/// Returns what is sent about one alarm: an object for the list that a request has; for chats a line of text.
/// Source: the API of Alertmanager, version 2; "incoming webhooks" of Slack, which Mattermost has too.
std::string webhook_message(const Alarm& alarm, const WebhookTarget& target);

/// Returns the body of a request with these messages.
std::string webhook_body(std::span<const std::string> messages, const WebhookTarget& target);

/// Posts alarms. If the receiver is away, or answers 408, 429 or 5xx, it tries again later, in steps from 1 s to 60 s.
/// Any other answer than 2xx refuses the alarms: they are dropped.
Result<std::unique_ptr<Exporter>> open_webhook_exporter(const std::string& target);
/// Loads libcurl. Returns why alarms cannot be posted: this build or this machine is without it.
std::optional<Error> webhook_problem();
Result<OutputNeeds> webhook_needs(const std::string& target);
/// Returns the host of the target and a mark that tells it from others there: the path and a password are secrets.
std::string webhook_shown(const std::string& target);

}  // namespace parshall
