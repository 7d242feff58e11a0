// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <istream>
#include <set>
#include <unordered_map>
#include <vector>

#include "base/read_ip.hpp"
#include "classify/label_flow.hpp"
#include "classify/label_formats.hpp"
#include "classify/label_reading.hpp"
#include "classify/zeek_log.hpp"

namespace parshall {
namespace {

using ServerNames = std::unordered_map<std::string, std::string>;  // domain by uid

/// Reads the domains of servers. A log that is missing has none.
Result<ServerNames> read_server_names(const std::string& path, LabelReading& reading) {
  constexpr std::array<std::string_view, 2> kSslColumns{"uid", "server_name"};
  ServerNames names;
  std::error_code problem;
  if (path.empty() || !std::filesystem::exists(path, problem)) return names;
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{fmt::format("cannot read {}, which is beside the labels: move it away to go without", path)};
  ZeekLog log(*file.rdbuf(), kSslColumns);
  while (!reading.ended() && log.next()) {
    if (!log.problem().empty()) {
      reading.refuse(log.line(), log.problem(), 1, path);
      continue;
    }
    if (std::string domain = registered_domain(log.value(1)); !domain.empty())
      names.try_emplace(log.value(0), std::move(domain));
  }
  if (!log.failure().empty())
    return Error{
        fmt::format("{}, line {}: {}; move the file away to use conn.log alone", path, log.line(), log.failure())};
  return names;
}

}  // namespace

std::string ssl_log_beside(const std::string& conn_log) {
  const std::filesystem::path path(conn_log);
  std::string name = path.filename().string();
  const auto at = name.find("conn");
  return at == std::string::npos ? std::string() : (path.parent_path() / name.replace(at, 4, "ssl")).string();
}

std::string zeek_class(std::string_view services) {
  std::set<std::string_view> names;
  while (!services.empty()) {
    const auto end = std::min(services.find(','), services.size());
    // A service that turned out to be wrong begins with a minus sign.
    if (end != 0 && services[0] != '-') names.insert(services.substr(0, end));
    services.remove_prefix(std::min(end + 1, services.size()));
  }
  return fmt::format("{}", fmt::join(names, "+"));
}

std::string registered_domain(std::string_view host) {
  constexpr std::string_view kShared[] = {"ac", "co", "com", "edu", "go", "gob", "gov", "ne", "net", "or", "org"};
  std::string name(host);
  std::ranges::transform(name, name.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 'a' - 'A') : c; });
  if (name.ends_with('.')) name.pop_back();
  if (is_ip(name) || name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_.") != std::string::npos) return {};
  std::vector<std::size_t> dots;
  for (std::size_t at = 0; at < name.size(); ++at)
    if (name[at] == '.') dots.push_back(at);
  const bool has_empty_part = name.starts_with('.') || name.ends_with('.') || name.find("..") != std::string::npos;
  if (dots.empty() || has_empty_part) return {};
  if (dots.size() == 1) return name;
  const std::size_t last = dots.back(), before = dots[dots.size() - 2];
  const std::string_view second = std::string_view(name).substr(before + 1, last - before - 1);
  const bool is_shared = name.size() - last == 3 && std::ranges::find(kShared, second) != std::end(kShared);
  if (!is_shared) return name.substr(before + 1);
  return dots.size() == 2 ? name : name.substr(dots[dots.size() - 3] + 1);
}

Result<Labels> read_zeek_labels(std::istream& conn_log, const std::string& ssl_log, LabelReading& reading) {
  constexpr std::array<std::string_view, 7> kConnColumns{"uid",       "proto",     "id.orig_h", "id.orig_p",
                                                         "id.resp_h", "id.resp_p", "service"};
  const auto domains = read_server_names(ssl_log, reading);
  if (!domains) return domains.error();
  ZeekLog log(*conn_log.rdbuf(), kConnColumns);
  while (!reading.ended() && log.next()) {
    if (!log.problem().empty() || log.value(2).empty()) {
      reading.refuse(log.line(), log.problem().empty() ? "id.orig_h is missing: give Zeek's conn.log" : log.problem());
      continue;
    }
    const auto domain = domains->find(log.value(0));
    const std::string name = domain == domains->end() ? zeek_class(log.value(6)) : domain->second;
    if (name.empty())
      reading.add_unnamed();
    else
      reading.add(log.line(), flow_of({log.value(1), log.value(2), log.value(3), log.value(4), log.value(5)}), name);
  }
  if (!log.failure().empty()) return reading.wrong(log.line(), log.failure() + ": give Zeek's conn.log");
  return reading.finish(domains->empty() ? "conn.log of Zeek, without names of an ssl.log"
                                         : "conn.log of Zeek, with names of its ssl.log");
}

}  // namespace parshall
