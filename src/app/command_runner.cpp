// SPDX-License-Identifier: Apache-2.0
#include "app/command_runner.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/thread_name.hpp"

namespace parshall::cli {
namespace {

// A message is kRun and three NUL-terminated texts, or an order to end the running command. The answer to kRun is
// an int, sent when the command has ended.
constexpr char kRun = 'r';
constexpr std::size_t kMostBytes = std::size_t{1} << 18;  ///< most bytes of a message; more than a variable may have
constexpr int kCouldNotBegin = -1;

/// Starts the command in a process group of its own, so that Ctrl-C ends the monitor alone. Returns 0 if it cannot be
/// run.
pid_t spawn(const std::string& command, const std::array<std::string, 3>& variables, const sigset_t& mask) {
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t usual;
  sigemptyset(&usual);
  for (const int each : {SIGINT, SIGTERM, SIGPIPE, SIGHUP, SIGQUIT, SIGCHLD, SIGXFSZ}) sigaddset(&usual, each);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setsigmask(&attributes, &mask);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  std::vector<char*> environment;
  environment.reserve(variables.size());
  for (const std::string& variable : variables) environment.push_back(const_cast<char*>(variable.c_str()));
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

}  // namespace

/// Runs commands in the helper process until the monitor is gone.
class CommandServant {
 public:
  CommandServant(const std::string& command, int socket)
      : command_(command), socket_(socket), message_(kMostBytes, '\0') {}

  /// Serves messages. SIGCHLD reports the end of a command; it is delivered only while this waits.
  void serve() {
    struct sigaction told {};
    told.sa_handler = [](int) {};
    ::sigaction(SIGCHLD, &told, nullptr);
    sigset_t end_of_command;
    sigemptyset(&end_of_command);
    sigaddset(&end_of_command, SIGCHLD);
    ::sigprocmask(SIG_BLOCK, &end_of_command, &mask_);
    sigset_t waiting = mask_;
    sigdelset(&waiting, SIGCHLD);
    for (;;) {
      pollfd order{.fd = socket_, .events = POLLIN, .revents = 0};
      const int ready = ::ppoll(&order, 1, nullptr, &waiting);
      if (ready < 0 && errno != EINTR) return;
      look();
      if (ready > 0 && !obey()) return;
    }
  }

 private:
  bool obey() {
    const ssize_t bytes = ::recv(socket_, message_.data(), message_.size(), 0);
    if (bytes <= 0) return bytes < 0 && errno == EINTR;
    const std::string_view message(message_.data(), static_cast<std::size_t>(bytes));
    if (message == std::string_view(&CommandRunner::kEnd, 1) && child_ != 0) ::kill(-child_, SIGTERM);
    if (message == std::string_view(&CommandRunner::kKill, 1) && child_ != 0) ::kill(-child_, SIGKILL);
    if (message[0] == kRun && child_ == 0) run(message.substr(1));
    return true;
  }

  /// Runs the command. The message holds only values, in fixed positions, so it cannot choose the names of variables.
  void run(std::string_view of) {
    std::array<std::string, 3> variables{"PARSHALL_ALARM=", "PARSHALL_TEXT=", "PARSHALL_STATE="};
    for (std::string& variable : variables) {
      const std::size_t end = of.find('\0');
      if (end == of.npos) return;
      variable += of.substr(0, end);
      of.remove_prefix(end + 1);
    }
    child_ = spawn(command_, variables, mask_);
    if (child_ == 0) answer(kCouldNotBegin);
  }

  /// Checks if the command has ended.
  void look() {
    int status = 0;
    if (child_ == 0 || ::waitpid(child_, &status, WNOHANG) != child_) return;
    child_ = 0;
    answer(status);
  }

  void answer(int status) const { (void)!::send(socket_, &status, sizeof status, MSG_NOSIGNAL); }

  const std::string& command_;
  int socket_;
  std::string message_;
  pid_t child_ = 0;  ///< 0: no command runs
  sigset_t mask_{};  ///< signal mask for commands
};

namespace {

/// Ignores signals that end the monitor, so that this process does not end first. Gives up standard output, whose
/// reader must notice when the monitor has ended.
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
  if (!error) CommandServant(command, socket).serve();
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

bool CommandRunner::run(const CommandAlarm& alarm) {
  const auto text = [](std::string_view value) { return value.substr(0, value.find('\0')); };
  std::string message(1, kRun);
  for (const std::string_view value : {alarm.alarm, alarm.text, alarm.state}) message.append(text(value)) += '\0';
  return message.size() < kMostBytes &&
         ::send(socket_.get(), message.data(), message.size(), MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
}

std::optional<int> CommandRunner::ended() {
  int status = 0;
  const ssize_t bytes = ::recv(socket_.get(), &status, sizeof status, MSG_DONTWAIT);
  if (bytes == sizeof status) return status;
  if (bytes == 0) return kCouldNotBegin;  // the helper is gone
  return std::nullopt;
}

void CommandRunner::send(char order) {
  (void)!::send(socket_.get(), &order, sizeof order, MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace parshall::cli
