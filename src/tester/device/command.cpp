// SPDX-License-Identifier: Apache-2.0
#include "tester/device/command.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "pipeline/capture/file_handle.hpp"

extern char** environ;

namespace parshall::tester {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kPatience{30}, kEndPatience{10};
constexpr std::chrono::milliseconds kTick{5};

struct Pipe {
  FileHandle read, write;

  static Pipe make() {
    std::array<int, 2> ends{-1, -1};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
    return {FileHandle(ends[0]), FileHandle(ends[1])};
  }
};

/// -1 leaves a stream as it is. Negative: the error.
int spawn(const Words& words, pid_t& id, int input, int output, int error) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  for (const auto& [from, to] : {std::pair{input, STDIN_FILENO}, {output, STDOUT_FILENO}, {error, STDERR_FILENO}})
    if (from >= 0) ::posix_spawn_file_actions_adddup2(&actions, from, to);
  // What the user's keys send to all of the terminal's programs is ours to hear; signals we ignore are theirs again.
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t usual;
  ::sigemptyset(&usual);
  ::posix_spawnattr_setsigmask(&attributes, &usual);
  ::sigaddset(&usual, SIGPIPE);
  ::posix_spawnattr_setsigdefault(&attributes, &usual);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  const int problem = ::posix_spawnp(&id, arguments[0], &actions, &attributes, arguments.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  return problem;
}

/// Reads what there is; false at the end.
bool read_some(int file, std::string& into) {
  std::array<char, 4096> part;
  const ssize_t got = ::read(file, part.data(), part.size());
  if (got > 0) into.append(part.data(), static_cast<std::size_t>(got));
  return got > 0 || (got < 0 && errno == EINTR);
}

/// The last of what a program said, in one line.
std::string in_one_line(std::string text) {
  constexpr std::size_t kMost = 300;
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::ranges::replace(text, '\n', ' ');
  return text.size() <= kMost ? text : "..." + text.substr(text.size() - kMost);
}

std::string status_text(int status) {
  return WIFSIGNALED(status) ? fmt::format("was ended by signal {}", WTERMSIG(status))
                             : fmt::format("failed with status {}", WEXITSTATUS(status));
}

}  // namespace

Result<std::string> run_command(const Words& words, const std::string& input) {
  const std::string name = fmt::format("{}", fmt::join(words, " "));
  Pipe in = Pipe::make(), out = Pipe::make(), said = Pipe::make();
  pid_t id = -1;
  if (const int problem = spawn(words, id, in.read.get(), out.write.get(), said.write.get()); problem != 0)
    return Error{fmt::format("cannot run {}: {}", words[0], std::strerror(problem))};
  in.read = FileHandle();
  out.write = FileHandle();
  said.write = FileHandle();
  ::fcntl(in.write.get(), F_SETFL, O_NONBLOCK);
  std::string output, errors;
  std::size_t written = 0;
  const auto until = Clock::now() + kPatience;
  bool out_open = true, said_open = true;
  while ((out_open || said_open) && Clock::now() < until) {
    if (written == input.size()) in.write = FileHandle();
    std::array<pollfd, 3> files{pollfd{out_open ? out.read.get() : -1, POLLIN, 0},
                                pollfd{said_open ? said.read.get() : -1, POLLIN, 0},
                                pollfd{in.write.get(), POLLOUT, 0}};
    ::poll(files.data(), files.size(), 100);
    if (files[0].revents != 0) out_open = read_some(out.read.get(), output);
    if (files[1].revents != 0) said_open = read_some(said.read.get(), errors);
    if (files[2].revents != 0) {
      const ssize_t part = ::write(in.write.get(), input.data() + written, input.size() - written);
      written = part >= 0 ? written + static_cast<std::size_t>(part) : input.size();
    }
  }
  const bool late = out_open || said_open;
  if (late) ::kill(id, SIGKILL);
  int status = 0;
  while (::waitpid(id, &status, 0) < 0 && errno == EINTR) {
  }
  if (late) return Error{fmt::format("{}: takes more than {} s", name, kPatience.count())};
  if (status != 0)
    return Error{fmt::format("{}: {}{}", name, in_one_line(errors), errors.empty() ? status_text(status) : "")};
  return output;
}

Result<ChildProcess> ChildProcess::start(const Words& words) {
  Pipe out = Pipe::make();
  const FileHandle nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  pid_t id = -1;
  if (const int problem = spawn(words, id, nothing.get(), out.write.get(), -1); problem != 0)
    return Error{fmt::format("cannot run {}: {}", words[0], std::strerror(problem))};
  return ChildProcess(id, ::fcntl(out.read.get(), F_DUPFD_CLOEXEC, 0), fmt::format("{}", fmt::join(words, " ")));
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : id_(std::exchange(other.id_, -1)), output_(std::exchange(other.output_, -1)), name_(std::move(other.name_)) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  std::swap(id_, other.id_);
  std::swap(output_, other.output_);
  std::swap(name_, other.name_);
  return *this;
}

ChildProcess::~ChildProcess() {
  if (id_ > 0) static_cast<void>(stop());
  if (output_ >= 0) ::close(output_);
}

bool ChildProcess::is_running() const noexcept {
  siginfo_t ended{};
  return id_ > 0 && ::waitid(P_PID, static_cast<id_t>(id_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         ended.si_pid == 0;
}

Result<std::string> ChildProcess::stop() {
  if (id_ <= 0) return Error{"it was stopped already"};
  ::kill(id_, SIGINT);
  std::string output;
  const auto until = Clock::now() + kEndPatience;
  bool open = true;
  while (open && Clock::now() < until) {
    pollfd file{output_, POLLIN, 0};
    if (::poll(&file, 1, 100) > 0) open = read_some(output_, output);
  }
  while (is_running() && Clock::now() < until) std::this_thread::sleep_for(kTick);
  const bool late = is_running();
  if (late) ::kill(id_, SIGKILL);
  int status = 0;
  while (::waitpid(id_, &status, 0) < 0 && errno == EINTR) {
  }
  id_ = -1;
  if (late) return Error{fmt::format("{}: did not end when it was asked to", name_)};
  if (status != 0) return Error{fmt::format("{}: {}", name_, status_text(status))};
  return output;
}

}  // namespace parshall::tester
