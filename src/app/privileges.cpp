// SPDX-License-Identifier: Apache-2.0
#include "app/privileges.hpp"

#include <fmt/format.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "app/sandbox/each_thread.hpp"

namespace parshall::cli {
namespace {

constexpr std::uint64_t bit(unsigned capability) { return std::uint64_t{1} << capability; }

constexpr std::uint64_t kMaySetScheduler = bit(CAP_SYS_NICE), kMayDetach = bit(CAP_NET_ADMIN);
/// Covers any user's files, disk space reserved for root, all ports, and locked memory.
constexpr std::uint64_t kOfRoot = bit(CAP_DAC_OVERRIDE) | bit(CAP_DAC_READ_SEARCH) | bit(CAP_FOWNER) |
                                  bit(CAP_SYS_RESOURCE) | bit(CAP_NET_BIND_SERVICE) | bit(CAP_IPC_LOCK);

/// Reduces this thread's effective and permitted capabilities to `keep`, and clears the inheritable ones. Returns 0 or
/// errno.
int keep_capabilities(std::uint64_t keep) noexcept {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct data[2]{};
  if (::syscall(SYS_capget, &header, data) != 0) return errno;
  for (unsigned half = 0; half < 2; ++half) {
    const auto kept = static_cast<std::uint32_t>(keep >> 32 * half) & data[half].permitted;
    data[half] = {.effective = kept, .permitted = kept, .inheritable = 0};
  }
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  return ::syscall(SYS_capset, &header, data) == 0 ? 0 : errno;
}

/// Allows every real-time priority without a capability.
bool allow_scheduling() noexcept {
  const rlimit all{.rlim_cur = 99, .rlim_max = 99};
  return ::setrlimit(RLIMIT_RTPRIO, &all) == 0;
}

Error refused(const std::string& what) { return Error{fmt::format("{}: {}", what, std::strerror(errno))}; }

/// Becomes the user, in all threads: glibc makes each of them do so.
std::optional<Error> become(const std::string& user) {
  errno = 0;
  const passwd* const entry = ::getpwnam(user.c_str());
  if (entry == nullptr) return refused("--user " + user);
  const uid_t uid = entry->pw_uid;
  const gid_t gid = entry->pw_gid;
  if (::initgroups(user.c_str(), gid) != 0 || ::setresgid(gid, gid, gid) != 0 || ::setresuid(uid, uid, uid) != 0)
    return refused("--user " + user);
  return std::nullopt;
}

}  // namespace

void use_permitted_capabilities() noexcept {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct data[2]{};
  if (::syscall(SYS_capget, &header, data) != 0) return;
  for (__user_cap_data_struct& half : data) half.effective = half.permitted;
  ::syscall(SYS_capset, &header, data);
}

std::optional<Error> user_problem(const std::string& user) {
  if (user.empty()) return std::nullopt;
  if (::getpwnam(user.c_str()) == nullptr) return Error{fmt::format("--user: there is no user {}", user)};
  if (::geteuid() != 0)
    return Error{
        "--user needs root; or start parshall as that user, with the privileges that its source needs "
        "(docs/rights.md)"};
  return std::nullopt;
}

std::optional<Error> drop_privileges(const Privileges& kept) {
  std::uint64_t keep =
      (kept.sets_scheduler && !allow_scheduling() ? kMaySetScheduler : 0) | (kept.detaches_xdp ? kMayDetach : 0);
  if (keep != 0) ::prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);  // keeps capabilities while the user changes
  if (!kept.user.empty())
    if (auto error = become(kept.user)) return error;
  if (::geteuid() == 0) {
    if (kept.is_on_pci || kept.runs_commands) return std::nullopt;
    keep |= kOfRoot | (kept.sets_scheduler ? kMaySetScheduler : 0);
  }
  const auto drop = [&] {
    if (const int wrong = keep_capabilities(keep); wrong != 0) return wrong;
    return kept.runs_commands || ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 0 : errno;
  };
  if (auto error = sandbox::each_thread(drop)) return Error{"cannot drop capabilities: " + error->message};
  return std::nullopt;
}

}  // namespace parshall::cli
