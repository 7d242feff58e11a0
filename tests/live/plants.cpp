// SPDX-License-Identifier: Apache-2.0
// The monitor, with something planted in it: what a thread of it tries first that no run does, as code would that came
// in with a packet. PARSHALL_PLANT=WHERE:WHAT: WHERE is main, worker, export or eal (DPDK's thread for interrupts);
// WHAT is open:PATH, write:PATH, suid:PATH, chmod:PATH, connect:PORT, fastopen:PORT, kill:PID, limit:PID, pin:PID,
// socket:FAMILY, socket:FAMILY,TYPE,PROTOCOL, datagram:PATH (to a socket that is a file, by one of a pair),
// option:OF_PRCTL, order:WORDS (to the process that runs the hook's commands; | is a NUL), listen, rebind, memfd, code,
// x32, fork or exec:PATH. What came of it is said on standard error.
//
// It stands in for functions of the C library that these threads call, so that nothing is planted in the programs
// themselves. Capabilities stay as they were: of root, too, what stops it is the sandbox.
#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <string_view>

namespace {

std::atomic<bool> measuring{false};  ///< the run has its rights

bool is_planted_in(std::string_view where) {
  const char* const plant = std::getenv("PARSHALL_PLANT");
  return plant != nullptr && std::string_view(plant).starts_with(std::string(where) + ':');
}

/// To the other end of every socket that the hook's process may have.
bool give_order(std::string_view words) {
  constexpr int kMostFiles = 64;
  bool sent = false;
  for (int file = 3; file < kMostFiles; ++file) {
    int type = 0;
    socklen_t bytes = sizeof type;
    if (::getsockopt(file, SOL_SOCKET, SO_TYPE, &type, &bytes) != 0 || type != SOCK_SEQPACKET) continue;
    std::istringstream messages{std::string(words)};
    for (std::string message; std::getline(messages, message, '#');) {
      std::ranges::replace(message, '|', '\0');
      sent |= ::send(file, message.data(), message.size(), MSG_NOSIGNAL) > 0;
    }
  }
  return sent;
}

sockaddr_in here(const std::string& port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = ::htons(static_cast<std::uint16_t>(std::atoi(port.c_str())));
  address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  return address;
}

/// "FAMILY" or "FAMILY,TYPE,PROTOCOL".
int open_socket(const std::string& of) {
  int family = 0, type = SOCK_DGRAM, protocol = 0;
  std::sscanf(of.c_str(), "%d,%d,%d", &family, &type, &protocol);
  return ::socket(family, type, protocol);
}

/// To a socket that is a file.
bool send_by_one_of_a_pair(const std::string& path) {
  int pair[2];
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return ::socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0 &&
         ::sendto(pair[0], "plant", 5, 0, reinterpret_cast<const sockaddr*>(&address), sizeof address) > 0;
}

/// Sockets for packets, to all interfaces.
bool rebind() {
  constexpr int kMostFiles = 64;
  sockaddr_ll every{};
  every.sll_family = AF_PACKET;
  for (int file = 3; file < kMostFiles; ++file) {
    int family = 0;
    socklen_t bytes = sizeof family;
    if (::getsockopt(file, SOL_SOCKET, SO_DOMAIN, &family, &bytes) == 0 && family == AF_PACKET)
      return ::bind(file, reinterpret_cast<const sockaddr*>(&every), sizeof every) == 0;
  }
  errno = ENOTSOCK;
  return false;
}

/// Memory that was written.
bool run_memory() {
  constexpr std::size_t kBytes = 4096;
  void* const code = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return code != MAP_FAILED && ::mprotect(code, kBytes, PROT_READ | PROT_EXEC) == 0;
}

/// Whether it could be done; errno says why not.
bool attempt(const std::string& what, const std::string& of) {
  if (what == "open") return ::open(of.c_str(), O_RDONLY | O_CLOEXEC) >= 0;
  if (what == "write") return ::open(of.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600) >= 0;
  if (what == "kill") return ::kill(std::atoi(of.c_str()), 0) == 0;
  if (what == "limit") {
    rlimit limit;
    return ::prlimit(std::atoi(of.c_str()), RLIMIT_NOFILE, nullptr, &limit) == 0;
  }
  if (what == "pin") {
    cpu_set_t cores;
    return ::sched_getaffinity(0, sizeof cores, &cores) == 0 &&
           ::sched_setaffinity(std::atoi(of.c_str()), sizeof cores, &cores) == 0;
  }
  if (what == "memfd") return ::memfd_create("plant", MFD_CLOEXEC) >= 0;
  if (what == "option") return ::syscall(SYS_prctl, std::atoi(of.c_str()), 0, 0, 0, 0) == 0;
  if (what == "x32") return ::syscall(0x40000000 | SYS_getpid) > 0;
  if (what == "order") return give_order(of);
  if (what == "socket") return open_socket(of) >= 0;
  if (what == "datagram") return send_by_one_of_a_pair(of);
  if (what == "rebind") return rebind();
  if (what == "code") return run_memory();
  if (what == "suid") return ::open(of.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, S_ISUID | 0700) >= 0;
  if (what == "chmod") {
    const int file = ::open(of.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
    return file >= 0 && ::fchmod(file, S_ISUID | 0700) == 0;
  }
  if (what == "listen") return ::listen(::socket(AF_INET, SOCK_STREAM, 0), 1) == 0;
  if (what == "connect" || what == "fastopen") {
    const sockaddr_in address = here(of);
    const auto* const to = reinterpret_cast<const sockaddr*>(&address);
    const int made = ::socket(AF_INET, SOCK_STREAM, 0);
    if (what == "connect") return made >= 0 && ::connect(made, to, sizeof address) == 0;
    return made >= 0 && ::sendto(made, "plant", 5, MSG_FASTOPEN | MSG_NOSIGNAL, to, sizeof address) > 0;
  }
  if (what == "fork") {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    return child > 0;
  }
  if (what == "exec") {
    char* const words[] = {const_cast<char*>(of.c_str()), nullptr};
    ::execv(of.c_str(), words);
  }
  return false;
}

/// Once.
void try_in(const std::string& where) {
  static std::atomic<bool> tried{false};
  if (!is_planted_in(where) || tried.exchange(true)) return;
  const std::string what(std::strchr(std::getenv("PARSHALL_PLANT"), ':') + 1);
  const std::size_t colon = what.find(':');
  const bool done = attempt(what.substr(0, colon), colon == what.npos ? "" : what.substr(colon + 1));
  std::fprintf(stderr, "plant: %s\n", done ? "got through" : std::strerror(errno));
}

}  // namespace

extern "C" {

/// Threads of a run begin by it.
int prctl(int option, ...) {
  va_list list;
  va_start(list, option);
  unsigned long words[4];
  for (unsigned long& word : words) word = va_arg(list, unsigned long);
  va_end(list);
  if (option == PR_SET_NAME) {
    const std::string_view name(reinterpret_cast<const char*>(words[0]));
    measuring.store(true);
    if (name == "export") try_in("export");
    if (name.starts_with("worker") || name.starts_with("w")) try_in("worker");
  }
  return static_cast<int>(::syscall(SYS_prctl, option, words[0], words[1], words[2], words[3]));
}

/// The first thread waits by it, while the others measure.
int nanosleep(const timespec* time, timespec* left) {
  if (measuring.load() && ::gettid() == ::getpid()) try_in("main");
  return static_cast<int>(::syscall(SYS_nanosleep, time, left));
}

/// Capabilities are given up by it.
long syscall(long number, ...) noexcept {
  using Call = long (*)(long, ...);
  static const auto call = reinterpret_cast<Call>(::dlsym(RTLD_NEXT, "syscall"));
  va_list list;
  va_start(list, number);
  long words[6];
  for (long& word : words) word = va_arg(list, long);
  va_end(list);
  if (number == SYS_capset) return 0;
  return call(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

/// DPDK's thread for interrupts waits by it, for ever.
int epoll_wait(int fd, epoll_event* events, int room, int timeout_ms) {
  constexpr int kLookMs = 20;
  if (!is_planted_in("eal") || timeout_ms >= 0) return ::epoll_pwait(fd, events, room, timeout_ms, nullptr);
  for (;;) {
    if (measuring.load()) try_in("eal");
    const int ready = ::epoll_pwait(fd, events, room, kLookMs, nullptr);
    if (ready != 0) return ready;
  }
}
}
