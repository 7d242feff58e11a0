// SPDX-License-Identifier: Apache-2.0
#include "monitor/command_runner.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/thread_name.hpp"

namespace parshall::cli {
namespace {

// A message is one of these letters with what it is of; the answer to kRun is an int, when the command has ended.
constexpr char kRun = 'r', kSignal = 's';
constexpr std::size_t kMostBytes = std::size_t{1} << 18;  ///< of a message: more than a variable may have
constexpr int kCouldNotBegin = -1;

/// In a process group of its own, so that Ctrl-C ends the monitor alone. 0 where it cannot be run.
pid_t spawn(const std::string& command, const std::vector<char*>& variables) {
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t usual;
  sigemptyset(&usual);
  for (const int each : {SIGINT, SIGTERM, SIGPIPE, SIGHUP, SIGQUIT}) sigaddset(&usual, each);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  std::vector<char*> environment(variables);
  for (char** inherited = environ; *inherited != nullptr; ++inherited)
    if (!std::string_view(*inherited).starts_with("PARSHALL_")) environment.push_back(*inherited);
  environment.push_back(nullptr);
  char shell[] = "sh", from_text[] = "-c";
  char* const arguments[] = {shell, from_text, const_cast<char*>(command.c_str()), nullptr};
  pid_t child = 0;
  if (::posix_spawn(&child, "/bin/sh", nullptr, &attributes, arguments, environment.data()) != 0) child = 0;
  posix_spawnattr_destroy(&attributes);
  return child;
}

/// What the other process does, until nobody asks any more.
class Servant {
 public:
  Servant(const std::string& command, int socket) : command_(command), socket_(socket), message_(kMostBytes, '\0') {}

  void serve() {
    for (;;) {
      pollfd wanted[] = {{.fd = socket_, .events = POLLIN, .revents = 0},
                         {.fd = ended_.get(), .events = POLLIN, .revents = 0}};
      if (::poll(wanted, ended_ ? 2 : 1, -1) < 0 && errno != EINTR) return;
      if (ended_ && wanted[1].revents != 0) tell_end();
      if (wanted[0].revents != 0 && !obey()) return;
    }
  }

 private:
  bool obey() {
    const ssize_t bytes = ::recv(socket_, message_.data(), message_.size() - 1, 0);
    if (bytes <= 0) return bytes < 0 && errno == EINTR;
    message_[static_cast<std::size_t>(bytes)] = '\0';
    if (message_[0] == kSignal && child_ != 0 && bytes == 2) ::kill(-child_, message_[1]);
    if (message_[0] == kRun) run(static_cast<std::size_t>(bytes));
    return true;
  }

  void run(std::size_t bytes) {
    std::vector<char*> variables;
    for (std::size_t at = 1; at < bytes; at += std::strlen(&message_[at]) + 1) variables.push_back(&message_[at]);
    child_ = spawn(command_, variables);
    if (child_ != 0) ended_ = FileHandle(static_cast<int>(::syscall(SYS_pidfd_open, child_, 0)));
    if (child_ == 0) answer(kCouldNotBegin);
    if (child_ != 0 && !ended_) tell_end();  // before Linux 5.3: others wait meanwhile
  }

  void tell_end() {
    int status = 0;
    while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
    }
    child_ = 0;
    ended_ = FileHandle();
    answer(status);
  }

  void answer(int status) const { (void)!::send(socket_, &status, sizeof status, MSG_NOSIGNAL); }

  const std::string& command_;
  int socket_;
  std::string message_;
  pid_t child_ = 0;  ///< 0: none runs
  FileHandle ended_;
};

/// Signals that end the monitor do not end this process before it. Standard output is the monitor's alone: its reader
/// is to see when that has ended.
void stand_apart() {
  name_this_thread("commands");
  for (const int each : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::signal(each, SIG_IGN);
  const FileHandle nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (nothing) ::dup2(nothing.get(), STDIN_FILENO);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
}

[[noreturn]] void serve(const std::string& command, int socket, const Privileges& kept) {
  stand_apart();
  const auto error = drop_privileges(kept);
  const std::string said = error ? error->message : "";
  (void)!::send(socket, said.c_str(), said.size() + 1, MSG_NOSIGNAL);
  if (!error) Servant(command, socket).serve();
  ::_exit(0);
}

}  // namespace

Result<std::unique_ptr<CommandRunner>> CommandRunner::begin(const std::string& command, const Privileges& kept) {
  const auto failed = [] { return Error{fmt::format("--hook: {}", std::strerror(errno))}; };
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return failed();
  FileHandle ours(ends[0]), theirs(ends[1]);
  constexpr int kRoom = 2 * kMostBytes;
  ::setsockopt(ours.get(), SOL_SOCKET, SO_SNDBUF, &kRoom, sizeof kRoom);
  const pid_t process = ::fork();
  if (process < 0) return failed();
  if (process == 0) {
    ours = FileHandle();
    serve(command, theirs.get(), kept);
  }
  theirs = FileHandle();
  std::unique_ptr<CommandRunner> runner(new CommandRunner(process, std::move(ours)));
  char said[512] = "it did not begin";
  const ssize_t bytes = ::recv(runner->socket_.get(), said, sizeof said - 1, 0);
  if (bytes <= 0 || said[0] != '\0') return Error{fmt::format("--hook: {}", said)};
  return runner;
}

CommandRunner::~CommandRunner() {
  socket_ = FileHandle();
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

bool CommandRunner::run(const std::vector<std::string>& variables) {
  std::string message(1, kRun);
  for (const std::string& variable : variables) message += variable + '\0';
  return message.size() < kMostBytes &&
         ::send(socket_.get(), message.data(), message.size(), MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
}

std::optional<int> CommandRunner::ended() {
  int status = 0;
  const ssize_t bytes = ::recv(socket_.get(), &status, sizeof status, MSG_DONTWAIT);
  if (bytes == sizeof status) return status;
  if (bytes == 0) return kCouldNotBegin;  // whoever ran it is gone
  return std::nullopt;
}

void CommandRunner::signal(int number) {
  const char message[] = {kSignal, static_cast<char>(number)};
  (void)!::send(socket_.get(), message, sizeof message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace parshall::cli
