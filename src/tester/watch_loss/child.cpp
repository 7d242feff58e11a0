// SPDX-License-Identifier: Apache-2.0
#include "tester/watch_loss/child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>
#include <utility>

namespace parshall::tester {
namespace {

constexpr std::chrono::milliseconds kTick{5};
constexpr std::size_t kLastBytes = 600;
constexpr off_t kMostOutput = 16 << 20;  ///< of which the last is read
constexpr int kNotFound = 127;

/// In the child, between fork() and exec(): nothing but system calls.
[[noreturn]] void become(char* const* arguments, int output, pid_t parent) noexcept {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kNotFound);
  ::signal(SIGPIPE, SIG_DFL);  // what is ignored would stay so
  ::signal(SIGHUP, SIG_DFL);
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  ::execvp(arguments[0], arguments);
  const char* const why = std::strerror(errno);
  [[maybe_unused]] auto wrote = ::write(STDERR_FILENO, arguments[0], std::strlen(arguments[0]));
  wrote = ::write(STDERR_FILENO, ": ", 2);
  wrote = ::write(STDERR_FILENO, why, std::strlen(why));
  ::_exit(kNotFound);
}

}  // namespace

std::string ChildEnd::text() const {
  return signal != 0 ? fmt::format("was ended by signal {}", signal) : fmt::format("ended with status {}", exit_status);
}

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

Result<Child> Child::start(const std::vector<std::string>& words) {
  if (words.empty()) return Error{"there is no command to run"};
  const auto failed = [&] { return Error{fmt::format("cannot run {}: {}", joined(words), std::strerror(errno))}; };
  const int output = ::memfd_create("output", MFD_CLOEXEC);
  if (output < 0) return failed();
  ::fcntl(output, F_SETFL, O_APPEND);
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t parent = ::getpid(), pid = ::fork();
  if (pid == 0) become(arguments.data(), output, parent);
  if (pid > 0) {
    ::setpgid(pid, pid);  // whoever comes first, parent or child
    return Child(pid, output);
  }
  const Error error = failed();
  ::close(output);
  return error;
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), output_(std::exchange(other.output_, -1)), end_(other.end_) {}

Child::~Child() {
  if (pid_ > 0 && !end_) {
    send(SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  if (output_ >= 0) ::close(output_);
}

void Child::send(int signal) const noexcept {
  if (end_) return;
  ::kill(-pid_, signal);
}

std::optional<ChildEnd> Child::poll() noexcept {
  siginfo_t info{};
  if (end_ || ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != pid_)
    return end_;
  send(SIGKILL);  // what it left behind: while it is not reaped, the group's number is nobody else's
  int status = 0;
  ::waitpid(pid_, &status, 0);
  end_ = WIFSIGNALED(status) ? ChildEnd{.signal = WTERMSIG(status)} : ChildEnd{.exit_status = WEXITSTATUS(status)};
  return end_;
}

std::optional<ChildEnd> Child::wait(std::chrono::milliseconds most, const std::function<bool()>& stop) {
  const auto until = std::chrono::steady_clock::now() + most;
  while (!poll() && std::chrono::steady_clock::now() < until && !(stop && stop())) std::this_thread::sleep_for(kTick);
  return end_;
}

std::string Child::output() const {
  const off_t size = ::lseek(output_, 0, SEEK_END), from = std::max<off_t>(0, size - kMostOutput);
  std::string text(static_cast<std::size_t>(std::max<off_t>(0, size - from)), '\0');
  const ssize_t count = ::pread(output_, text.data(), text.size(), from);
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return text;
}

std::string Child::last_words() const {
  std::string text = output();
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  if (text.empty()) return "it said nothing";
  const bool is_long = text.size() > kLastBytes;
  return fmt::format("it said: {}{}", is_long ? "... " : "", is_long ? text.substr(text.size() - kLastBytes) : text);
}

Result<std::string> run_child(const std::vector<std::string>& words, std::chrono::milliseconds most,
                              const std::function<bool()>& stop) {
  auto child = Child::start(words);
  if (!child) return child.error();
  const auto end = child->wait(most, stop);
  if (!end)
    return Error{fmt::format("{} takes longer than {} s; {}", joined(words), most.count() / 1000, child->last_words())};
  if (end->signal == 0 && end->exit_status == 0) return child->output();
  return Error{fmt::format("{} {}; {}", joined(words), end->text(), child->last_words())};
}

}  // namespace parshall::tester
