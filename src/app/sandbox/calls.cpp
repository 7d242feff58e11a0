// SPDX-License-Identifier: Apache-2.0
#include "app/sandbox/calls.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <span>

#include "app/sandbox/call_lists.hpp"

namespace parshall::sandbox {
namespace {

using Context = std::unique_ptr<void, decltype(&::seccomp_release)>;

enum class Logged : std::uint8_t { no, yes };

/// Adds rules to one filter; keeps the first error.
class Filter {
 public:
  explicit Filter(std::uint32_t otherwise, Logged logged = Logged::yes)
      : context_(::seccomp_init(otherwise), &::seccomp_release) {
    if (!context_) {
      problem_ = -ENOMEM;
      return;
    }
    keep(::seccomp_attr_set(context_.get(), SCMP_FLTATR_CTL_TSYNC, 1));
    keep(::seccomp_attr_set(context_.get(), SCMP_FLTATR_CTL_NNP, 0));
    ::seccomp_attr_set(context_.get(), SCMP_FLTATR_API_SYSRAWRC, 1);  // report the kernel's errno; since libseccomp 2.5
    keep(
        ::seccomp_attr_set(context_.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS));  // numbers of 32-bit calls
    if (logged == Logged::yes) ::seccomp_attr_set(context_.get(), SCMP_FLTATR_CTL_LOG, 1);    // since 4.14
    ::seccomp_attr_set(context_.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2);  // a binary tree, since libseccomp 2.5
  }

  /// Adds a rule. Skips calls that this libseccomp does not know.
  void add(std::uint32_t action, std::string_view call, std::span<const scmp_arg_cmp> of = {}) {
    const int number = ::seccomp_syscall_resolve_name(std::string(call).c_str());
    if (!context_ || number == __NR_SCMP_ERROR) return;
    keep(::seccomp_rule_add_array(context_.get(), action, number, static_cast<unsigned>(of.size()), of.data()));
  }
  void add(std::uint32_t action, std::string_view call, const scmp_arg_cmp& of) { add(action, call, {&of, 1}); }

  int load() {
    if (context_) keep(::seccomp_load(context_.get()));
    return -problem_;
  }

 private:
  void keep(int result) noexcept {
    if (problem_ == 0 && result < 0) problem_ = result;
  }

  Context context_;
  int problem_ = 0;  ///< first error
};

scmp_arg_cmp masked(unsigned argument, std::uint64_t mask, std::uint64_t value) {
  return {.arg = argument, .op = SCMP_CMP_MASKED_EQ, .datum_a = mask, .datum_b = value};
}

constexpr std::uint64_t kInt = 0xffffffff;  ///< the part of an int that the kernel reads
constexpr std::uint32_t kRefused = SCMP_ACT_ERRNO(EPERM);

void refuse_sockets(Filter& filter, const Rules& rules) {
  for (std::uint64_t family = 0; family < AF_MAX; ++family) {
    const bool allowed = (family == AF_UNIX && rules.opens(Sockets::local)) ||
                         ((family == AF_INET || family == AF_INET6) && rules.opens(Sockets::internet)) ||
                         (family == AF_NETLINK && rules.opens(Sockets::netlink));
    if (!allowed) filter.add(kRefused, "socket", masked(0, kInt, family));
  }
}

/// Refuses sockets of a family whose protocol number has that bit or a higher one.
void refuse_protocols(Filter& filter, std::uint64_t family, unsigned from_bit) {
  for (std::uint64_t bit = std::uint64_t{1} << from_bit; bit <= kInt; bit <<= 1) {
    const scmp_arg_cmp one[] = {masked(0, kInt, family), masked(2, bit, bit)};
    filter.add(kRefused, "socket", one);
  }
}

/// Refuses ways to connect that Landlock does not check. It only checks the ports of TCP sockets that connect or bind.
/// It does not check MPTCP and SCTP, which reach the same servers, hand-made packets, a first message that connects, or
/// listening without an address.
void refuse_other_ways_to_connect(Filter& filter, const Rules& rules) {
  constexpr std::uint64_t kTypeOf = 0xf;  // higher bits are flags
  constexpr unsigned kAboveUdp = 5;       // covers the numbers of TCP and UDP
  for (const std::uint64_t family : {AF_INET, AF_INET6}) {
    if (!rules.opens(Sockets::internet)) break;
    for (std::uint64_t type = 0; type <= kTypeOf; ++type) {
      const scmp_arg_cmp other[] = {masked(0, kInt, family), masked(1, kTypeOf, type)};
      if (type != SOCK_STREAM && type != SOCK_DGRAM) filter.add(kRefused, "socket", other);
    }
    refuse_protocols(filter, family, kAboveUdp);
  }
  if (rules.opens(Sockets::netlink) && !rules.is_device) refuse_protocols(filter, AF_NETLINK, 0);  // except routing
  filter.add(kRefused, "sendmsg", masked(2, MSG_FASTOPEN, MSG_FASTOPEN));
  for (const char* const call : {"sendto", "sendmmsg"})
    filter.add(kRefused, call, masked(3, MSG_FASTOPEN, MSG_FASTOPEN));
  filter.add(kRefused, "listen");  // servers have called it before
  if (!rules.is_device && !rules.opens(Sockets::netlink))
    filter.add(kRefused, "bind");  // binding would lead a packet socket to other interfaces
}

/// Refuses to create files that others would run with their owner's privileges (set-user-ID, set-group-ID).
void refuse_rights_for_others(Filter& filter) {
  constexpr std::uint64_t kNoName = O_TMPFILE & ~O_DIRECTORY;
  for (const std::uint64_t right : {S_ISUID, S_ISGID}) {
    for (const char* const call : {"fchmod", "creat"}) filter.add(kRefused, call, masked(1, right, right));
    for (const std::uint64_t made : {std::uint64_t{O_CREAT}, kNoName}) {
      const scmp_arg_cmp open[] = {masked(1, made, made), masked(2, right, right)};
      const scmp_arg_cmp open_at[] = {masked(2, made, made), masked(3, right, right)};
      filter.add(kRefused, "open", open);
      filter.add(kRefused, "openat", open_at);
    }
  }
}

/// Refuses the calls that end the process, and forbidden arguments of calls that are allowed.
int refuse(const Rules& rules) {
  Filter filter(SCMP_ACT_ALLOW);
  for (const std::string_view call : kNever)
    if (!(rules.programs && call == "bpf")) filter.add(SCMP_ACT_KILL_PROCESS, call);
  refuse_sockets(filter, rules);
  refuse_other_ways_to_connect(filter, rules);
  refuse_rights_for_others(filter);
  filter.add(kRefused, "mmap", masked(2, PROT_WRITE | PROT_EXEC, PROT_WRITE | PROT_EXEC));  // code comes from files
                                                                                            // only
  for (const char* const call : {"mprotect", "pkey_mprotect"})
    filter.add(kRefused, call, masked(2, PROT_EXEC, PROT_EXEC));
  filter.add(kRefused, "clone", masked(0, CLONE_THREAD, 0));
  for (const std::uint64_t input : {TIOCSTI, TIOCLINUX})  // these type into a terminal for its next reader
    filter.add(kRefused, "ioctl", masked(1, kInt, input));
  for (const std::uint64_t signals : {FIOSETOWN, SIOCSPGRP})  // these send signals to other processes on input
    filter.add(kRefused, "ioctl", masked(1, kInt, signals));
  for (const std::uint64_t signals : {F_SETOWN, F_SETOWN_EX}) filter.add(kRefused, "fcntl", masked(1, kInt, signals));
  for (const std::uint64_t option : {PR_SET_MM, PR_SET_PTRACER, PR_SET_DUMPABLE, PR_SET_SECUREBITS})
    filter.add(kRefused, "prctl", masked(0, kInt, option));
  for (const char* const call : {"tgkill", "kill"})  // compares all 64 bits: libc sets none above the number
    filter.add(kRefused, call, {.arg = 0, .op = SCMP_CMP_NE, .datum_a = static_cast<std::uint64_t>(::getpid())});
  return filter.load();
}

int allow(const Rules& rules) {
  Filter filter(SCMP_ACT_ERRNO(ENOSYS));
  for (const std::string_view call : kAllowed) filter.add(SCMP_ACT_ALLOW, call);
  if (rules.programs) filter.add(SCMP_ACT_ALLOW, "bpf");
  if (rules.is_device) filter.add(SCMP_ACT_ALLOW, "memfd_create");
  // A datagram socket of a pair can be redirected to other sockets that are files; for other families the kernel loads
  // modules.
  if (rules.opens(Sockets::local)) filter.add(SCMP_ACT_ALLOW, "socketpair", masked(0, kInt, AF_UNIX));
  for (const std::string_view call : kOfItself) {
    if (rules.schedules && call != "prlimit64")
      filter.add(SCMP_ACT_ALLOW, call);
    else
      for (const auto who : {pid_t{0}, ::getpid()})
        filter.add(SCMP_ACT_ALLOW, call, masked(0, kInt, static_cast<std::uint64_t>(who)));
  }
  const scmp_arg_cmp own_niceness[] = {masked(0, kInt, PRIO_PROCESS), masked(1, kInt, 0)};
  filter.add(SCMP_ACT_ALLOW, "setpriority", own_niceness);
  filter.add(SCMP_ACT_ALLOW, "seccomp");  // the last filter needs this call, and refuses it
  return filter.load();
}

/// Refuses calls without a log line. Of several filters with equal answers, the last one counts. libc tries clone3 for
/// each new thread, so logging it would fill the kernel's log.
int refuse_silently() {
  Filter filter(SCMP_ACT_ALLOW, Logged::no);
  for (const char* const call : {"clone3", "seccomp"}) filter.add(SCMP_ACT_ERRNO(ENOSYS), call);
  return filter.load();
}

}  // namespace

bool filters_calls() noexcept { return true; }

void try_filters() noexcept { ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, nullptr); }

std::optional<Error> filter_calls(const Rules& rules) {
  int number = refuse(rules);
  if (number == 0) number = allow(rules);
  if (number == 0) number = refuse_silently();
  if (number == 0) return std::nullopt;
  return Error{fmt::format("seccomp: {}", std::strerror(number))};
}

}  // namespace parshall::sandbox
