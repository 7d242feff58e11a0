// SPDX-License-Identifier: Apache-2.0
#include "tester/host/child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>

namespace parshall::tester {
namespace {

constexpr std::chrono::microseconds kFirstTick{100}, kLastTick{5000};
constexpr std::size_t kLastBytes = 600;
constexpr off_t kMostOutput = 16 << 20;  ///< limit for reading; only the last bytes are read
constexpr int kNotFound = 127;

struct Streams {
  int input = -1, output = -1, errors = -1;  ///< -1: unchanged
};

/// Becomes the command, in the child between fork() and exec(): only system calls are allowed.
[[noreturn]] void become(char* const* arguments, const Streams& streams, pid_t parent) noexcept {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kNotFound);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);  // ignored signals would stay ignored
  ::signal(SIGXFSZ, SIG_DFL);
  ::signal(SIGHUP, SIG_DFL);
  ::signal(SIGCHLD, SIG_DFL);
  ::dup2(streams.input, STDIN_FILENO);
  ::dup2(streams.output, STDOUT_FILENO);
  if (streams.errors >= 0) ::dup2(streams.errors, STDERR_FILENO);
  ::execvp(arguments[0], arguments);
  const char* const why = std::strerror(errno);
  [[maybe_unused]] auto wrote = ::write(STDERR_FILENO, arguments[0], std::strlen(arguments[0]));
  wrote = ::write(STDERR_FILENO, ": ", 2);
  wrote = ::write(STDERR_FILENO, why, std::strlen(why));
  ::_exit(kNotFound);
}

/// Returns a descriptor above the standard streams, some of which may be closed here: the child's are made of these.
FileHandle beyond_streams(const FileHandle& made) noexcept {
  return FileHandle(made ? ::fcntl(made.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : -1);
}

/// Returns an unnamed file with this text, positioned at its beginning.
FileHandle memory_file(std::string_view text = {}) noexcept {
  FileHandle file = beyond_streams(FileHandle(::memfd_create("stream", MFD_CLOEXEC)));
  while (file && !text.empty()) {
    const ssize_t count = ::write(file.get(), text.data(), text.size());
    if (count < 0) return {};
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  if (file) ::lseek(file.get(), 0, SEEK_SET);
  return file;
}

std::string text_of(const FileHandle& file) {
  struct stat status {};
  ::fstat(file.get(), &status);  // the offset is shared with the child
  const off_t from = std::max<off_t>(0, status.st_size - kMostOutput);
  std::string text(static_cast<std::size_t>(status.st_size - from), '\0');
  const ssize_t count = ::pread(file.get(), text.data(), text.size(), from);
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return text;
}

}  // namespace

std::string ChildEnd::text() const {
  return signal != 0 ? fmt::format("was ended by signal {}", signal) : fmt::format("ended with status {}", exit_status);
}

std::string joined(const Words& words) { return fmt::format("{}", fmt::join(words, " ")); }

Result<Child> Child::start(const Words& words, Errors errors, std::string_view input) {
  return start(words, errors, memory_file(input));
}

Result<Child> Child::start_to_talk(const Words& words, Errors errors) {
  std::array<int, 2> ends{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return start(words, errors, FileHandle());
  const FileHandle theirs(ends[0]);
  FileHandle ours(ends[1]);
  auto child = start(words, errors, beyond_streams(theirs));
  if (child) child->talk_ = std::move(ours);
  return child;
}

Result<Child> Child::start(const Words& words, Errors errors, const FileHandle& in) {
  if (words.empty()) return Error{"there is no command to run"};
  const auto failed = [&] { return Error{fmt::format("cannot run {}: {}", joined(words), std::strerror(errno))}; };
  FileHandle out = memory_file(), said = errors == Errors::apart ? memory_file() : FileHandle();
  if (!in || !out || (errors == Errors::apart && !said)) return failed();
  const Streams streams{in.get(), out.get(), errors == Errors::with_output ? out.get() : said.get()};
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::signal(SIGCHLD, SIG_DFL);  // if it is ignored, a child's end cannot be read
  const pid_t parent = ::getpid(), pid = ::fork();
  if (pid == 0) become(arguments.data(), streams, parent);
  if (pid < 0) return failed();
  ::setpgid(pid, pid);  // in both parent and child, whichever runs first
  return Child(pid, std::move(out), std::move(said));
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      output_(std::move(other.output_)),
      errors_(std::move(other.errors_)),
      talk_(std::move(other.talk_)),
      end_(other.end_) {}

Child::~Child() {
  if (pid_ <= 0 || end_) return;
  send(SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void Child::send(int signal) const noexcept {
  if (pid_ <= 0 || end_) return;
  ::kill(-pid_, signal);
}

bool Child::say(std::string_view text) const noexcept {
  // A socket holds far more than these texts, so each is written completely or not at all.
  return talk_ && ::send(talk_.get(), text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

bool Child::is_running() const noexcept {
  siginfo_t info{};
  return !end_ && ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
}

std::optional<ChildEnd> Child::poll() noexcept {
  if (pid_ <= 0 || end_ || is_running()) return end_;
  siginfo_t info{};
  const bool is_there = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0;
  if (is_there) send(SIGKILL);  // what it left behind; the group's number is reserved until it is reaped
  int status = 0;
  if (!is_there || ::waitpid(pid_, &status, 0) != pid_) {
    end_ = ChildEnd{.exit_status = kNotFound};  // another waiter has taken its status
  } else {
    end_ = WIFSIGNALED(status) ? ChildEnd{.signal = WTERMSIG(status)} : ChildEnd{.exit_status = WEXITSTATUS(status)};
  }
  return end_;
}

std::optional<ChildEnd> Child::wait(std::chrono::milliseconds most, const std::function<bool()>& stop) {
  const auto until = std::chrono::steady_clock::now() + most;
  for (auto tick = kFirstTick; !poll() && std::chrono::steady_clock::now() < until && !(stop && stop());) {
    std::this_thread::sleep_for(tick);
    tick = std::min(2 * tick, kLastTick);
  }
  return end_;
}

std::string Child::output() const { return text_of(output_); }

std::string Child::last_words() const {
  std::string text = text_of(errors_ ? errors_ : output_);
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  if (text.empty()) return "it printed nothing";
  const bool is_long = text.size() > kLastBytes;
  return fmt::format("it printed: {}{}", is_long ? "... " : "", is_long ? text.substr(text.size() - kLastBytes) : text);
}

Result<std::string> run_command(const Words& words, std::string_view input, std::chrono::milliseconds most,
                                const std::function<bool()>& stop) {
  auto child = Child::start(words, Child::Errors::apart, input);
  if (!child) return child.error();
  const auto end = child->wait(most, stop);
  if (!end && stop && stop()) return Error{joined(words) + " was stopped"};
  if (!end)
    return Error{fmt::format("{} takes longer than {} s; {}", joined(words), most.count() / 1000, child->last_words())};
  if (end->is_good()) return child->output();
  return Error{fmt::format("{} {}; {}", joined(words), end->text(), child->last_words())};
}

Result<std::string> own_path() {
  std::error_code problem;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", problem);
  if (problem) return Error{"cannot find this program's own file: " + problem.message()};
  return path.string();
}

Result<std::string> monitor_path() {
  const auto own = own_path();
  if (!own) return own.error();
  const std::string beside = (std::filesystem::path(*own).parent_path() / "parshall").string();
  return ::access(beside.c_str(), X_OK) == 0 ? beside : "parshall";
}

}  // namespace parshall::tester
