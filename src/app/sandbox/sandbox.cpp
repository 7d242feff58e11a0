// SPDX-License-Identifier: Apache-2.0
#include "app/sandbox/sandbox.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "app/sandbox/calls.hpp"
#include "app/sandbox/each_thread.hpp"
#include "app/sandbox/landlock.hpp"

namespace parshall::sandbox {
namespace {

constexpr bool has_sanitizers() noexcept {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return true;
#elif defined(__has_feature)  // Clang
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
  return true;
#else
  return false;
#endif
#else
  return false;
#endif
}

/// Returns why this program cannot run in the sandbox: sanitizers and valgrind need system calls that it forbids.
std::string unfit_program() {
  if (has_sanitizers()) return "this program was built with sanitizers";
  const char* const preloaded = std::getenv("LD_PRELOAD");
  return preloaded != nullptr && std::strstr(preloaded, "vgpreload") != nullptr ? "valgrind runs this program" : "";
}

/// Returns the restrictions that only Landlock provides and that are missing here. With system call filters, sockets
/// are limited to the allowed kinds, and signals to the own process, even without Landlock.
std::string left_to_landlock(const Landlock& kernel, const Rules& rules, bool filters_calls) {
  std::vector<std::string_view> what;
  if (!kernel.files()) what.push_back("files");
  if (!kernel.ports() && (!filters_calls || rules.opens(Sockets::internet))) what.push_back("TCP ports");
  if (!kernel.abstract_sockets() && (!filters_calls || rules.opens(Sockets::local))) what.push_back("abstract sockets");
  if (!kernel.signals() && !filters_calls) what.push_back("signals");
  return fmt::format("{}", fmt::join(what, ", "));
}

/// Restores the default handling of child processes while it exists, so that a child's exit status can be read.
class UsualChildren {
 public:
  UsualChildren() noexcept {
    struct sigaction usual {};
    usual.sa_handler = SIG_DFL;
    ::sigaction(SIGCHLD, &usual, &before_);
  }
  UsualChildren(const UsualChildren&) = delete;
  UsualChildren& operator=(const UsualChildren&) = delete;
  ~UsualChildren() { ::sigaction(SIGCHLD, &before_, nullptr); }

 private:
  struct sigaction before_ {};
};

/// Returns why these calls should not be made: an existing filter, such as a service manager's, would kill the caller.
/// The kernel cannot be asked, so a child process tries it.
std::string why_not_to_call(void (*calls)()) {
  if (::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != SECCOMP_MODE_FILTER) return "";
  const UsualChildren usual;
  const pid_t trial = ::fork();
  if (trial == 0) {
    ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    calls();
    ::_exit(0);
  }
  int status = 0;
  pid_t ended = trial;
  while (trial > 0 && (ended = ::waitpid(trial, &status, 0)) < 0 && errno == EINTR) {
  }
  if (ended < 0)
    return fmt::format("a seccomp filter may kill this process, and no child process could try: {}",
                       std::strerror(errno));
  return status == 0 ? "" : "a seccomp filter kills a process that tries it";
}

}  // namespace

Result<Sandbox> Sandbox::make(Wanted wanted, Rules rules) {
  Sandbox made;
  made.wanted_ = wanted;
  if (wanted == Wanted::off) return made;
  made.rules_ = std::move(rules);
  if (made.rules_.unfit.empty()) made.rules_.unfit = unfit_program();
  if (made.rules_.unfit.empty()) made.prepare();
  if (auto error = made.missing()) return *std::move(error);
  return made;
}

std::optional<Error> Sandbox::missing() const {
  const auto lacking = lacks();
  if (wanted_ != Wanted::required || lacking.empty()) return std::nullopt;
  return Error{fmt::format("--sandbox require: it cannot hold back {}", fmt::join(lacking, "; or "))};
}

std::vector<std::string> Sandbox::lacks() const {
  if (wanted_ == Wanted::off) return {};
  if (!rules_.unfit.empty()) return {fmt::format("anything ({})", rules_.unfit)};
  std::vector<std::string> what = rules_.open;
  if (!no_calls_.empty()) what.push_back(fmt::format("system calls ({})", no_calls_));
  if (const std::string left = left_to_landlock(kernel_, rules_, no_calls_.empty()); !left.empty())
    what.push_back(fmt::format(
        "{} ({})", left, no_landlock_.empty() ? fmt::format("Landlock {} cannot", kernel_.version) : no_landlock_));
  if (!knows_threads_) what.emplace_back("threads that started before it, if there are any (/proc does not list them)");
  return what;
}

void Sandbox::prepare() {
  no_calls_ = !filters_calls()                          ? "built without libseccomp"
              : ::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) < 0 ? "this kernel has no seccomp filters"
                                                        : why_not_to_call(try_filters);
  knows_threads_ = threads_are_listed();
  no_landlock_ = why_not_to_call(try_landlock);
  if (no_landlock_.empty()) {
    kernel_ = Landlock::of_this_kernel();
    if (!kernel_.files()) no_landlock_ = "this kernel has no Landlock, or it is disabled";
  }
  if (!kernel_.files()) return;
  // A task's own entry in /proc is one folder: while it is open, it stays the one that the rules name.
  [[maybe_unused]] static const FileHandle self(::open("/proc/self", O_PATH | O_CLOEXEC));
  auto ruleset = kernel_.make(rules_);
  if (ruleset) {
    ruleset_ = *std::move(ruleset);
  } else {
    no_landlock_ = ruleset.error().message;
    kernel_ = {};
  }
}

std::optional<Error> Sandbox::enter() {
  if (wanted_ == Wanted::off || !rules_.unfit.empty()) return std::nullopt;
  const auto restrict = [this] {
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
    return ruleset_ ? restrict_this_thread(ruleset_.get()) : 0;
  };
  if (ruleset_ || no_calls_.empty())
    if (const auto error = each_thread(restrict)) {
      no_landlock_ = error->message;
      kernel_ = {};
    }
  if (no_calls_.empty())
    if (const auto error = filter_calls(rules_)) no_calls_ = error->message;
  ruleset_ = FileHandle();
  return missing();
}

}  // namespace parshall::sandbox
