// SPDX-License-Identifier: Apache-2.0
#include "monitor/named_source.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <span>
#include <vector>

#include "base/suggestion.hpp"
#include "generate/traffic_spec.hpp"
#include "pipeline/capture/bpf_filter.hpp"
#include "pipeline/capture/device_name.hpp"
#include "pipeline/capture/filter_names.hpp"
#include "pipeline/capture/kernel_interface.hpp"

namespace parshall::cli {
namespace {

constexpr std::size_t kMostShown = 8;

/// Returns true if the path exists or is blocked; opening it then reports the cause.
bool may_be_file(const std::string& path) {
  struct stat there {};
  return ::stat(path.c_str(), &there) == 0 || errno == EACCES || errno == ELOOP;
}

/// Returns the first interface that leads out of this host.
std::string interface_that_is_up() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> all(list, ::freeifaddrs);
  for (const ifaddrs* one = all.get(); one != nullptr; one = one->ifa_next)
    if ((one->ifa_flags & IFF_UP) != 0 && (one->ifa_flags & IFF_LOOPBACK) == 0) return one->ifa_name;
  return {};
}

/// Returns true for one interface, several separated by commas, or any.
bool are_interfaces(const std::string& names) {
  if (names == "any") return true;
  for (std::size_t begin = 0, end = 0; end != names.size(); begin = end + 1) {
    end = std::min(names.find(',', begin), names.size());
    const std::string name = names.substr(begin, end - begin);
    if (name.size() >= IFNAMSIZ || ::if_nametoindex(name.c_str()) == 0) return false;
  }
  return true;
}

bool is_device(const std::string& name) {
  if (are_interfaces(name)) return true;
  const auto device = DeviceName::parse(name);
  return device && device->kind != DeviceKind::kernel_interface;
}

/// Returns true if the text is a filter. Does not resolve names: a text that may contain names counts as a filter if it
/// has several words.
bool is_filter(const std::string& word, const std::string& text) {
  return may_have_names(text) ? word.find(' ') != word.npos : BpfFilter::compile(text).has_value();
}

std::string joined(const std::string& word, const std::string& filter) {
  return filter.empty() ? word : word + " " + filter;
}

Error missing_source(const std::string& command, const std::string& filter, const std::vector<std::string>& here) {
  const std::string up = interface_that_is_up();
  const std::string source = !up.empty() ? up : here.empty() ? "capture.pcap" : here.front();
  return Error{fmt::format("'{}' is a filter, and no source is named; name one before it, such as: parshall {} {} '{}'",
                           filter, command, source, filter)};
}

}  // namespace

std::optional<Error> place_first_word(const std::string& word, const std::string& command, SourcePlan& source) {
  if (!source.file.empty() || !source.interface.empty() || !source.traffic.empty()) {
    source.filter = joined(word, source.filter);
    return std::nullopt;
  }
  if (word == "-" || may_be_file(word)) {
    source.file = word;
    return std::nullopt;
  }
  if (is_device(word)) {
    source.interface = word;
    return std::nullopt;
  }
  const auto here = interfaces_here();
  if (const std::string filter = joined(word, source.filter); is_filter(word, filter))
    return missing_source(command, filter, here);
  if (word.find('=') != word.npos && TrafficSpec::parse(word, TrafficSpec::kAll))
    return Error{fmt::format("built-in traffic is named by -g: parshall {} -g {}", command, word)};
  const std::string near = nearest_name(word, here);
  const std::span shown(here.data(), std::min(here.size(), kMostShown));
  return Error{fmt::format(
      "nothing named {}: no file, no interface; {}: {}", word,
      near.empty() ? "interfaces here" : fmt::format("did you mean {}? Interfaces here", near),
      here.empty() ? "none"
                   : fmt::format("{}{}", fmt::join(shown, ", "), shown.size() < here.size() ? ", ... (ip link)" : ""))};
}

std::optional<Error> missing_file_problem(const std::string& path) {
  if (path == "-" || may_be_file(path)) return std::nullopt;
  return Error{fmt::format("nothing named {}: no such file; built-in traffic is named by -g", path)};
}

}  // namespace parshall::cli
