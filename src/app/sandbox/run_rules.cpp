// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>

#include "app/watch_options.hpp"
#include "base/file_handle.hpp"
#include "base/output_modes.hpp"
#include "cli/program.hpp"
#include "parshall/sources/source_kind.hpp"
#include "parshall/wire_outputs.hpp"
#include "pipeline/output/files/target_file.hpp"
#include "pipeline/output/files/unnamed_file.hpp"

namespace parshall::cli {
namespace {

namespace fs = std::filesystem;
using sandbox::Access;
using sandbox::PathRule;
using sandbox::Rules;
using sandbox::Sockets;

/// Files that libraries may read: time zones, locales, protocol names, plugins, and what the kernel reports about this
/// process, the machine and control groups. None of them is secret.
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
/// Trusted certificates.
constexpr const char* kReadForNetwork[] = {"/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/etc/crypto-policies",
                                           "/usr/local/ssl"};
constexpr const char* kReadByVariable[] = {"SSL_CERT_FILE", "SSL_CERT_DIR", "OPENSSL_CONF", "OPENSSL_MODULES"};
/// Files to resolve host names. Those of the first line may be replaced during a run, as addresses change.
constexpr const char* kReplacedForNames[] = {"/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf"};
constexpr const char* kReadForNames[] = {"/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager", "/run/nscd"};

class Collected {
 public:
  void add(const std::string& path, Access access) {
    const auto is_same = [&](const PathRule& rule) { return rule.path == path && rule.access == access; };
    if (!path.empty() && path != "-" && std::ranges::none_of(rules.paths, is_same))
      rules.paths.push_back({path, access});
  }

  /// Allows reading a file that may be replaced, and so its folder. Folders right below / hold much else: /etc may be
  /// read by everybody except root, so root gets a note, and for the others every user does.
  void add_replaceable(const std::string& path, const std::string& what) {
    add(path, Access::read);
    std::error_code wrong;
    if (!fs::is_regular_file(path, wrong)) return;
    for (const fs::path& file : {fs::absolute(path, wrong), fs::canonical(path, wrong)}) {
      const fs::path folder = file.parent_path();
      if (is_of_the_system(folder)) continue;
      add(folder, Access::read);
      const bool is_shallow = folder == folder.root_path() || folder.parent_path() == folder.root_path();
      const bool is_for_everybody = folder == "/etc" && ::geteuid() != 0;
      if (is_shallow && !is_for_everybody && !may_read_anyway(folder))
        note(fmt::format("reading {} ({} there may be replaced)", folder.string(), what));
    }
  }

  /// Allows writing an output. A file is created in its folder; a pipe or a device exists already. A file in / itself
  /// is created now, since the right to create files there would cover everything.
  void add_output(const std::string& path) {
    if (path.empty() || path == "-") return;
    std::error_code wrong;
    const bool is_file = !fs::exists(path, wrong) || fs::is_regular_file(path, wrong);
    for (const fs::path& file : {fs::absolute(path, wrong), target_of(path)}) {
      const fs::path folder = file.parent_path();
      const bool is_in_root = folder == folder.root_path();
      if (is_file && is_in_root && !fs::is_symlink(file, wrong))
        FileHandle(::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, kFileMode));
      if (is_file && !is_in_root && !is_of_the_system(folder))
        add(folder, Access::write);
      else
        add(file, fs::is_character_file(file, wrong) ? Access::terminal : Access::write);
    }
  }

  /// Allows an output file. If its name contains a time, its future names are unknown.
  void add_file(const std::string& path) {
    std::error_code wrong;
    if (has_time(path) && fs::absolute(path, wrong).parent_path() == "/")
      rules.unfit = fmt::format("an output right below / has a time in its name, {}", path);
    else
      add_output(name_at(0, path));  // even without a time, %% in it stands for %
  }

  /// Allows creating a socket; removing it at the end needs a right on its folder.
  void add_socket(const std::string& path) {
    std::error_code wrong;
    const fs::path folder = fs::absolute(path, wrong).parent_path();
    if (folder == folder.root_path()) note(fmt::format("removing files (of {}, which is right below /)", path));
    add(folder, Access::socket);
  }

  /// Creates the folder now, since rights beneath it do not include creating it.
  void add_folder(const std::string& path) {
    make_folders(path);
    add(path, Access::own);
  }

  void add(const OutputNeeds& needs) {
    for (const std::string& file : needs.files) add_file(file);
    for (const std::string& folder : needs.folders) add_folder(folder);
    for (const std::string& file : needs.reads) add_replaceable(file, "what an output reads");
    std::ranges::copy(needs.connects, std::back_inserter(rules.connects));
    rules.connects_anywhere |= needs.connects_anywhere;
    uses_network |= needs.uses_network;
    asks_for_names |= needs.asks_for_names;
    if (needs.listens) rules.unfit = "an output listens on ports of its own";
    if (!needs.runs_program.empty()) rules.unfit = fmt::format("an output runs {}", needs.runs_program);
  }

  Rules rules;
  bool uses_network = false, asks_for_names = false;

 private:
  /// Notes an excess right once.
  void note(std::string what) {
    if (std::ranges::find(rules.open, what) == rules.open.end()) rules.open.push_back(std::move(what));
  }

  static bool is_of_the_system(const fs::path& folder) {
    return folder == "/dev" || folder == "/dev/fd" || folder.string().starts_with("/proc/");
  }

  bool may_read_anyway(const fs::path& folder) const {
    return std::ranges::any_of(rules.paths,
                               [&](const PathRule& rule) { return rule.access == Access::own && rule.path == folder; });
  }

  /// Returns the path behind symbolic links; the last link may point to a file that does not exist yet.
  static fs::path target_of(fs::path path) {
    constexpr int kMostLinks = 40;  // same limit as the kernel
    std::error_code wrong;
    path = fs::absolute(path, wrong);  // otherwise a missing file would have no known folder
    for (int i = 0; i < kMostLinks && fs::is_symlink(path, wrong); ++i)
      path = path.parent_path() / fs::read_symlink(path, wrong);  // an absolute target replaces everything before it
    return fs::weakly_canonical(path, wrong);
  }
};

/// Allows the folder for waiting records and rescued results; without a temporary folder it is the working directory.
void add_temporary(Collected& rules) {
  std::error_code wrong;
  const std::string folder = temporary_folder();
  const auto takes_files = [](const std::string& path) { return ::access(path.c_str(), W_OK | X_OK) == 0; };
  for (const std::string& each : {folder, std::string("/tmp")})
    if (fs::is_directory(each, wrong)) rules.add(each, Access::own);
  if (!takes_files(folder) && !takes_files("/tmp") && fs::current_path(wrong) != "/") rules.add(".", Access::own);
}

/// Allows the folders of the libraries loaded now, since later ones are beside them. They may be outside /usr (Nix,
/// Conda, /opt).
void add_libraries(Collected& collected) {
  const auto add = [](dl_phdr_info* library, std::size_t, void* to) {
    const fs::path folder = fs::path(library->dlpi_name).parent_path();
    if (folder.is_absolute() && folder.parent_path() != folder.root_path() && folder != folder.root_path())
      static_cast<Collected*>(to)->add(folder, Access::read);
    return 0;
  };
  ::dl_iterate_phdr(add, &collected);
}

void add_network(Collected& collected) {
  for (const char* const path : kReadForNetwork) collected.add(path, Access::read);
  for (const char* const variable : kReadByVariable)
    if (const char* const path = std::getenv(variable)) collected.add(path, Access::read);
  for (const Sockets kind : {Sockets::internet, Sockets::netlink}) collected.rules.sockets.push_back(kind);
}

/// Allows name resolution, including services that are asked through a socket file (nscd, systemd-resolved, avahi).
void add_names(Collected& collected) {
  constexpr std::uint16_t kDomain = 53;  // for answers too long for UDP
  for (const char* const path : kReplacedForNames) collected.add_replaceable(path, "names of hosts");
  for (const char* const path : kReadForNames) collected.add(path, Access::read);
  collected.add("/etc/host.conf", Access::read);
  collected.rules.connects.push_back(kDomain);
  collected.rules.sockets.push_back(Sockets::local);
}

/// Allows what a source does during a run, and at its end.
void add_source(const SourceNeeds& needs, Collected& collected) {
  Rules& rules = collected.rules;
  if (needs.has_driver)
    for (const Sockets kind : {Sockets::internet, Sockets::local, Sockets::netlink}) rules.sockets.push_back(kind);
  rules.is_device = rules.schedules = needs.has_driver;
  rules.programs = needs.uses_xdp;
  rules.abstract_sockets = needs.abstract_sockets;
  for (const std::string& path : needs.reads) collected.add(path, Access::read);
  for (const std::string& path : needs.writes) collected.add_output(path);
  for (const std::string& path : needs.binds) collected.add_socket(path);
}

void add_terminal(Collected& collected) {
  collected.add("/dev/tty", Access::terminal);
  for (const char* const path : {"/etc/terminfo", "/lib/terminfo"}) collected.add(path, Access::read);
  if (const char* const path = std::getenv("TERMINFO")) collected.add(path, Access::read);
  if (const char* const folders = std::getenv("TERMINFO_DIRS")) {
    std::istringstream all(folders);
    for (std::string folder; std::getline(all, folder, ':');) collected.add(folder, Access::read);
  }
  if (const char* const home = std::getenv("HOME")) collected.add(std::string(home) + "/.terminfo", Access::read);
}

/// Returns the user's choice; empty: none was made.
std::string_view chosen_sandbox(const WatchOptions& options) {
  if (!options.sandbox.empty()) return options.sandbox;
  const char* const usual = std::getenv("PARSHALL_SANDBOX");
  return usual != nullptr ? usual : "";
}

}  // namespace

std::optional<sandbox::Wanted> sandbox_of(const WatchOptions& options) {
  const std::string_view wanted = chosen_sandbox(options);
  if (wanted == "off") return sandbox::Wanted::off;
  if (wanted == "on" || wanted.empty()) return sandbox::Wanted::on;
  return wanted == "require" ? std::optional(sandbox::Wanted::required) : std::nullopt;
}

Rules rules_of(const WatchOptions& options, const Plan& plan) {
  Collected collected;
  for (const char* const path : kRead) collected.add(path, Access::read);
  add_libraries(collected);
  if (const char* const zones = std::getenv("TZDIR")) collected.add(zones, Access::read);
  collected.add("/dev/null", Access::write);
  for (const std::string* const path : {&plan.flows.model, &plan.tasks.states}) collected.add(*path, Access::read);
  add_temporary(collected);
  collected.add_output(options.output);
  collected.add_output(plan.flows.learn);
  for (const OutputNeeds& needs : needs_of(plan.outputs)) collected.add(needs);
  for (const std::string& folder : options.allowed) collected.add(folder, Access::own);
  if (!configuration().path.empty()) collected.add_replaceable(configuration().path, "the configuration");
  if (options.live) add_terminal(collected);
  if (collected.uses_network) add_network(collected);
  if (collected.asks_for_names) add_names(collected);
  const SourceNeeds source = needs_of(plan.source);
  add_source(source, collected);
  Rules& rules = collected.rules;
  rules.schedules |= !plan.threads.cores.empty() || plan.threads.scheduler != Scheduler::other;
  if (chosen_sandbox(options).empty() && source.is_on_pci)
    rules.unfit = "untested with PCI devices: use --sandbox on to restrict them";
  return std::move(rules);
}

std::optional<Error> allowed_problem(const WatchOptions& options) {
  std::error_code wrong;
  for (const std::string& folder : options.allowed)
    if (!fs::is_directory(folder, wrong))
      return Error{fmt::format("--sandbox-allow {}: there is no such folder; make it first", folder)};
  return std::nullopt;
}

}  // namespace parshall::cli
