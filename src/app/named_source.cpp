// SPDX-License-Identifier: Apache-2.0
#include "app/named_source.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <span>
#include <system_error>
#include <vector>

#include "base/suggestion.hpp"
#include "parshall/sources/source_kind.hpp"
#include "pipeline/capture/bpf_filter.hpp"
#include "pipeline/capture/device_name.hpp"
#include "pipeline/capture/filter_names.hpp"
#include "pipeline/capture/kernel_interface.hpp"
#include "traffic/traffic_spec.hpp"

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

/// Puts a file or a device that is called this where it belongs; false where there is none.
bool take_source(const std::string& word, SourcePlan& source) {
  if (word == "-" || may_be_file(word))
    source.file = word;
  else if (is_device(word))
    source.interface = word;
  else
    return false;
  return true;
}

/// Cuts a filter behind its last word but one. Returns the last one; empty where there is one alone.
std::string cut_last_word(std::string& filter) {
  const std::size_t space = filter.rfind(' ');
  if (space == filter.npos) return {};
  std::string last = filter.substr(space + 1);
  filter.erase(space);
  return last;
}

Error missing_source(const std::string& command, const std::string& filter, const std::vector<std::string>& here) {
  const std::string up = interface_that_is_up();
  const std::string source = !up.empty() ? up : here.empty() ? "capture.pcap" : here.front();
  return Error{fmt::format("'{}' is a filter, and no source is named; name one before it, such as: parshall {} {} '{}'",
                           filter, command, source, filter)};
}

/// Returns the interface that an alias such as eth0:1 is an address of; empty where the name is none.
std::string aliased(const std::string& name) {
  const std::size_t colon = name.find(':');
  const std::string interface = name.substr(0, colon);
  return colon != name.npos && are_interfaces(interface) ? interface : std::string();
}

/// Returns a file beside it whose name is like that of `path`; empty where there is none.
std::string nearest_file(const std::string& path) {
  constexpr std::size_t kMostLookedAt = 10'000;
  const std::filesystem::path wanted(path);
  std::vector<std::string> names;
  std::error_code none;
  const auto folder = wanted.has_parent_path() ? wanted.parent_path() : std::filesystem::path(".");
  for (std::filesystem::directory_iterator at(folder, none), end; !none && at != end && names.size() < kMostLookedAt;
       at.increment(none))
    names.push_back(at->path().filename().string());
  std::ranges::sort(names);
  const std::string near = nearest_name(wanted.filename().string(), names);
  return near.empty() ? near : (wanted.parent_path() / near).string();
}

}  // namespace

bool are_interfaces(const std::string& names) {
  if (names.empty() || names == "any") return !names.empty();
  for (std::size_t begin = 0, end = 0; end != names.size(); begin = end + 1) {
    end = std::min(names.find(',', begin), names.size());
    const std::string name = names.substr(begin, end - begin);
    if (name.size() >= IFNAMSIZ || ::if_nametoindex(name.c_str()) == 0) return false;
  }
  return true;
}

bool is_source(const std::string& name) { return may_be_file(name) || is_device(name); }

std::optional<Error> source_problem(const SourcePlan& source) {
  if (const std::string& file = source.file; file != "-" && !may_be_file(file) && are_interfaces(file))
    return Error{fmt::format("-r {0}: {0} is an interface, and -r reads a file: give -i {0}", file)};
  const std::string& name = source.interface;
  if (const std::string of = aliased(name); !of.empty())
    return Error{fmt::format("{} is an address of {}, and no interface of its own: give {}", name, of, of)};
  if (!is_device(name) && may_be_file(name))
    return Error{fmt::format("-i {0}: {0} is a file, and -i takes an interface: give -r {0}", name)};
  return std::nullopt;
}

std::optional<Error> place_first_word(const std::string& word, const std::string& command, SourcePlan& source) {
  if (names_source(source)) {
    if (!word.empty()) source.filter = joined(word, source.filter);
    return std::nullopt;
  }
  if (word.empty()) {  // --filter took all words
    std::string filter = source.filter;
    if (!may_have_names(filter) && BpfFilter::compile(filter)) return std::nullopt;
    if (const std::string last = cut_last_word(filter); !last.empty() && take_source(last, source))
      source.filter = filter;
    return std::nullopt;
  }
  if (take_source(word, source)) return std::nullopt;
  if (BpfFilter::problem()) return BpfFilter::problem();  // else it may be a filter
  const auto here = interfaces_here();
  const std::string filter = joined(word, source.filter);
  std::string rest = filter;
  if (const std::string last = cut_last_word(rest); !last.empty() && is_source(last) && is_filter(word, rest))
    return Error{fmt::format("the source comes before the filter: parshall {} {} '{}'", command, last, rest)};
  if (is_filter(word, filter)) return missing_source(command, filter, here);
  if (word == "help") return Error{fmt::format("did you mean: parshall {} --help", command)};
  if (word.find('=') != word.npos && TrafficSpec::parse(word, TrafficSpec::kAll))
    return Error{fmt::format("built-in traffic is named by -g: parshall {} -g {}", command, word)};
  const std::string interface = nearest_name(word, here), near = interface.empty() ? nearest_file(word) : interface;
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
