// SPDX-License-Identifier: Apache-2.0
#include "app/sandbox/landlock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

namespace parshall::sandbox {
namespace {

// Defined here rather than taken from linux/landlock.h: the kernel may be newer than the headers.
constexpr std::uint64_t bit(unsigned i) { return std::uint64_t{1} << i; }
constexpr std::uint64_t kWriteFile = bit(1), kReadFile = bit(2), kReadFolder = bit(3), kRemoveFolder = bit(4),
                        kRemoveFile = bit(5), kMakeFolder = bit(7), kMakeFile = bit(8), kMakeSocket = bit(9),
                        kMoveBetweenFolders = bit(13), kTruncate = bit(14), kControlDevice = bit(15);
constexpr std::uint64_t kBindTcp = bit(0), kConnectTcp = bit(1);
constexpr std::uint64_t kAbstractSockets = bit(0), kSignals = bit(1);
constexpr std::uint64_t kOfAFile = bit(0) | kWriteFile | kReadFile | kTruncate | kControlDevice;
constexpr std::uint32_t kTellVersion = 1, kTellMended = 2;
constexpr long kScopedSignalsMended = 1L << 1;
constexpr int kPathBeneath = 1, kPort = 2;
constexpr long kCreateRuleset = 444, kAddRule = 445, kRestrictSelf = 446;

struct RulesetAttributes {
  std::uint64_t files, ports, scoped;
};
struct [[gnu::packed]] PathAttributes {
  std::uint64_t allowed;
  std::int32_t parent;
};
struct PortAttributes {
  std::uint64_t allowed, port;
};

/// Returns the file rights (execute, write, read and so on) that this version knows.
std::uint64_t handled_files(int version) noexcept {
  const unsigned rights = version >= 5 ? 16 : version >= 3 ? 15 : version >= 2 ? 14 : 13;
  return bit(rights) - 1;
}

std::uint64_t rights_of(Access access) noexcept {
  switch (access) {
    case Access::read:
      return kReadFile | kReadFolder;
    case Access::write:
      return kWriteFile | kTruncate | kMakeFile;
    case Access::socket:
      return kMakeSocket | kRemoveFile;
    case Access::own:
      return kWriteFile | kReadFile | kReadFolder | kTruncate | kMakeFile | kMakeFolder | kMakeSocket | kRemoveFile |
             kRemoveFolder | kMoveBetweenFolders;
    case Access::terminal:
      return kWriteFile | kReadFile | kControlDevice;
  }
  return 0;
}

Error failed(const std::string& what) { return {fmt::format("Landlock: {}: {}", what, std::strerror(errno))}; }

std::optional<Error> allow_path(int ruleset, const PathRule& rule, std::uint64_t handled) {
  const FileHandle path(::open(rule.path.c_str(), O_PATH | O_CLOEXEC));
  struct stat status {};
  if (!path || ::fstat(path.get(), &status) != 0) return std::nullopt;
  std::uint64_t allowed = rights_of(rule.access) & handled;
  if (!S_ISDIR(status.st_mode)) allowed &= kOfAFile;
  const PathAttributes attributes{.allowed = allowed, .parent = path.get()};
  if (::syscall(kAddRule, ruleset, kPathBeneath, &attributes, 0) == 0) return std::nullopt;
  if (errno == EBADFD) return std::nullopt;  // a pipe or a socket behind /dev/stdout, which Landlock does not restrict
  return failed(rule.path);
}

std::optional<Error> allow_port(int ruleset, std::uint64_t what, std::uint16_t port) {
  const PortAttributes attributes{.allowed = what, .port = port};
  return ::syscall(kAddRule, ruleset, kPort, &attributes, 0) == 0 ? std::nullopt
                                                                  : std::optional(failed(fmt::format("port {}", port)));
}

}  // namespace

Landlock Landlock::of_this_kernel() noexcept {
  const long version = ::syscall(kCreateRuleset, nullptr, 0, kTellVersion);
  const long mended = ::syscall(kCreateRuleset, nullptr, 0, kTellMended);
  return {.version = version > 0 ? static_cast<int>(version) : 0,
          .knows_own_threads = mended > 0 && (mended & kScopedSignalsMended) != 0};
}

Result<FileHandle> Landlock::make(const Rules& rules) const {
  RulesetAttributes handled{.files = handled_files(version), .ports = 0, .scoped = 0};
  if (ports()) handled.ports = kBindTcp | (rules.connects_anywhere ? 0 : kConnectTcp);
  if (abstract_sockets() && !rules.abstract_sockets) handled.scoped = kAbstractSockets;
  if (signals()) handled.scoped |= kSignals;
  FileHandle ruleset(static_cast<int>(::syscall(kCreateRuleset, &handled, sizeof handled, 0)));
  if (!ruleset) return failed("its rules");
  for (const PathRule& rule : rules.paths)
    if (auto error = allow_path(ruleset.get(), rule, handled.files)) return *std::move(error);
  if (!ports()) return ruleset;
  for (const std::uint16_t port : rules.connects)
    if (!rules.connects_anywhere)
      if (auto error = allow_port(ruleset.get(), kConnectTcp, port)) return *std::move(error);
  return ruleset;
}

int restrict_this_thread(int ruleset) noexcept { return ::syscall(kRestrictSelf, ruleset, 0) == 0 ? 0 : errno; }

void try_landlock() noexcept {
  ::syscall(kCreateRuleset, nullptr, 0, kTellVersion);
  ::syscall(kAddRule, -1, kPathBeneath, nullptr, 0);
  ::syscall(kRestrictSelf, -1, 0);
}

}  // namespace parshall::sandbox
