// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>

#include "cli/program.hpp"
#include "monitor/watch_options.hpp"
#include "parshall/open_input.hpp"
#include "parshall/wire_outputs.hpp"
#include "pipeline/output/unnamed_file.hpp"

namespace parshall::cli {
namespace {

namespace fs = std::filesystem;
using sandbox::Access;
using sandbox::Rules;
using sandbox::Sockets;

/// What libraries read when it comes to that: of time zones, languages, names of protocols, plugins of theirs; what the
/// kernel says of this process, of the machine and of control groups. Nothing in it is secret.
constexpr const char* kRead[] = {"/usr/lib",
                                 "/usr/lib64",
                                 "/usr/share",
                                 "/usr/local/lib",
                                 "/usr/local/share",
                                 "/lib",
                                 "/lib64",
                                 "/etc/ld.so.cache",
                                 "/etc/localtime",
                                 "/etc/timezone",
                                 "/etc/locale.alias",
                                 "/etc/gai.conf",
                                 "/etc/services",
                                 "/etc/protocols",
                                 "/proc/self",
                                 "/proc/cpuinfo",
                                 "/proc/meminfo",
                                 "/proc/stat",
                                 "/proc/version",
                                 "/proc/filesystems",
                                 "/proc/sys/vm",
                                 "/proc/sys/kernel/osrelease",
                                 "/proc/sys/crypto",
                                 "/sys/devices/system",
                                 "/sys/fs/cgroup",
                                 "/sys/kernel/mm",
                                 "/dev/urandom",
                                 "/dev/random"};
/// For names of collectors, and certificates to believe. Files may be replaced, so that it is their folders, too.
constexpr const char* kReadForNetwork[] = {
    "/etc/resolv.conf",     "/etc/hosts",          "/etc/nsswitch.conf", "/etc/host.conf", "/run/systemd/resolve",
    "/run/resolvconf",      "/run/NetworkManager", "/run/nscd",          "/etc/ssl",       "/etc/pki",
    "/etc/ca-certificates", "/etc/crypto-policies"};
constexpr const char* kReadByVariable[] = {"SSL_CERT_FILE", "SSL_CERT_DIR", "OPENSSL_CONF", "KRB5_CONFIG"};

class Collected {
 public:
  void add(const std::string& path, Access access) {
    if (!path.empty() && path != "-") rules.paths.push_back({path, access});
  }

  /// One that is replaced is another file of its folder. Folders such as /etc have too much else in them: there it is
  /// the file as it is.
  void add_replaceable(const std::string& path) {
    add(path, Access::read);
    std::error_code wrong;
    for (const fs::path& file : {fs::absolute(path, wrong), fs::canonical(path, wrong)})
      if (file.has_filename() && file.parent_path().parent_path() != file.root_path() &&
          file.parent_path() != file.root_path())
        add(file.parent_path(), Access::read);
  }

  /// A file is made in its folder; a pipe or a device is there. In / itself nothing but the file is allowed.
  void add_output(const std::string& path) {
    if (path == "-") return;
    std::error_code wrong;
    const bool is_file = !fs::exists(path, wrong) || fs::is_regular_file(path, wrong);
    for (const fs::path& file : {fs::absolute(path, wrong), fs::weakly_canonical(path, wrong)}) {  // behind a link, too
      const fs::path folder = file.parent_path();
      const bool takes_folder =
          is_file && folder != folder.root_path() && folder != "/dev" && folder != "/proc/self/fd";
      add(takes_folder ? folder.string() : path, Access::write);
    }
  }

  /// Made now: who may only write beneath it could not make the folder itself.
  void add_folder(const std::string& path) {
    std::error_code wrong;
    fs::create_directories(path, wrong);
    add(path, Access::own);
  }

  void add(const OutputNeeds& needs) {
    for (const std::string& file : needs.files) add_output(file);
    for (const std::string& folder : needs.folders) add_folder(folder);
    for (const std::string& file : needs.reads) add_replaceable(file);
    std::ranges::copy(needs.connects, std::back_inserter(rules.connects));
    std::ranges::copy(needs.binds, std::back_inserter(rules.binds));
    rules.connects_anywhere |= needs.connects_anywhere;
    uses_network |= needs.uses_network;
  }

  Rules rules;
  bool uses_network = false;
};

/// Where records wait, and what an output did not take goes.
void add_temporary(Collected& rules) {
  std::error_code wrong;
  const std::string folder = temporary_folder();
  rules.add(fs::is_directory(folder, wrong) ? folder : "/tmp", Access::own);
}

/// Whether a packet filter may name a host, which is looked up when the filter is compiled.
bool names_host(const std::string& filter) {
  std::istringstream words(filter);
  const auto has_letter = [](const std::string& word) {
    return std::ranges::any_of(word, [](unsigned char c) { return std::isalpha(c) != 0; });
  };
  for (std::string before, word; words >> word; before = word)
    if (has_letter(word) && (word.find('.') != word.npos || before == "host" || before == "gateway" || before == "net"))
      return true;
  return false;
}

void add_network(Collected& collected) {
  constexpr std::uint16_t kDomain = 53;  // an answer that is too long for UDP
  for (const char* const path : kReadForNetwork) collected.add(path, Access::read);
  for (const char* const variable : kReadByVariable)
    if (const char* const path = std::getenv(variable)) collected.add(path, Access::read);
  collected.rules.connects.push_back(kDomain);
  for (const Sockets kind : {Sockets::local, Sockets::internet, Sockets::netlink})
    collected.rules.sockets.push_back(kind);
}

/// What DPDK's drivers do while they run, and when they are closed.
void add_device(const SourcePlan& source, Collected& collected) {
  if (source.interface.empty()) return;
  Rules& rules = collected.rules;
  rules.sockets.push_back(Sockets::internet);  // what asks the kernel of an interface
  if (HeldSource::can_hold(source)) return;
  for (const Sockets kind : {Sockets::local, Sockets::netlink}) rules.sockets.push_back(kind);
  const std::string words = source.interface + ' ' + source.forward + ' ' + source.via + ' ' + source.eal;
  rules.programs = uses_xdp(source);
  rules.abstract_sockets = words.find("memif") != words.npos;
  for (std::size_t at = words.find("=/"); at != words.npos; at = words.find("=/", at + 1)) {
    const std::size_t end = words.find_first_of(", ", at);
    collected.add_output(words.substr(at + 1, end == words.npos ? end : end - at - 1));
  }
}

void add_terminal(Collected& collected) {
  collected.add("/dev/tty", Access::terminal);
  for (const char* const path : {"/etc/terminfo", "/lib/terminfo"}) collected.add(path, Access::read);
  if (const char* const path = std::getenv("TERMINFO")) collected.add(path, Access::read);
  if (const char* const home = std::getenv("HOME")) collected.add(std::string(home) + "/.terminfo", Access::read);
}

}  // namespace

std::optional<sandbox::Wanted> sandbox_of(const WatchOptions& options) {
  const char* const usual = std::getenv("PARSHALL_SANDBOX");
  const std::string_view wanted = !options.sandbox.empty() ? options.sandbox : usual != nullptr ? usual : "off";
  if (wanted == "off") return sandbox::Wanted::off;
  if (wanted == "on") return sandbox::Wanted::on;
  return wanted == "require" ? std::optional(sandbox::Wanted::required) : std::nullopt;
}

Rules rules_of(const WatchOptions& options, const Plan& plan) {
  Collected collected;
  for (const char* const path : kRead) collected.add(path, Access::read);
  collected.add("/dev/null", Access::write);
  for (const std::string* const path : {&plan.flows.model, &plan.tasks.states, &plan.tasks.profile})
    collected.add(*path, Access::read);
  add_temporary(collected);
  collected.add_output(options.output);
  for (const OutputNeeds& needs : needs_of(plan.outputs)) collected.add(needs);
  for (const std::string& folder : options.allowed) collected.add_folder(folder);
  if (!configuration().path.empty()) collected.add_replaceable(configuration().path);
  if (options.live) add_terminal(collected);
  if (collected.uses_network || names_host(plan.source.filter)) add_network(collected);
  add_device(plan.source, collected);
  return std::move(collected.rules);
}

}  // namespace parshall::cli
