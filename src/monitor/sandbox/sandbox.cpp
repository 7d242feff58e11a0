// SPDX-License-Identifier: Apache-2.0
#include "monitor/sandbox/sandbox.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>

#include <cerrno>
#include <utility>

#include "monitor/sandbox/calls.hpp"
#include "monitor/sandbox/each_thread.hpp"
#include "monitor/sandbox/landlock.hpp"

namespace parshall::sandbox {
namespace {

/// Sanitizers look into their own process with what this would take from it.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kCanBe = false;
#else
constexpr bool kCanBe = true;
#endif

/// Beyond what a run may have: what a kernel has of it that is older than this was written for.
std::vector<std::string> lacks_of(const Landlock& kernel) {
  if (!kernel.files()) return {"files, TCP ports and signals (this kernel has no Landlock, or it is switched off)"};
  if (!kernel.ports()) return {fmt::format("TCP ports and signals (Landlock {} has none)", kernel.version)};
  if (!kernel.signals()) return {fmt::format("signals (Landlock {} has none)", kernel.version)};
  return {};
}

bool has_call_filters() noexcept { return ::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0; }

}  // namespace

Result<Sandbox> Sandbox::make(Wanted wanted, Rules rules) {
  Sandbox made;
  made.wanted_ = wanted;
  if (wanted == Wanted::off) return made;
  made.rules_ = std::move(rules);
  const Landlock kernel = kCanBe ? Landlock::of_this_kernel() : Landlock{};
  made.lacks_ = kCanBe ? lacks_of(kernel) : std::vector<std::string>{"anything (this is built with sanitizers)"};
  made.filters_calls_ = kCanBe && filters_calls() && has_call_filters();
  if (kCanBe && !made.filters_calls_)
    made.lacks_.emplace_back(filters_calls() ? "calls of the kernel (it has no seccomp filters)"
                                             : "calls of the kernel (built without libseccomp)");
  if (wanted == Wanted::required && !made.lacks_.empty())
    return Error{fmt::format("--sandbox require: it cannot hold back {}", fmt::join(made.lacks_, ", or "))};
  if (!kernel.files()) return made;
  // What a task says of itself is one folder of /proc: while it is held open it stays the one that the rules name.
  [[maybe_unused]] static const FileHandle self(::open("/proc/self", O_PATH | O_CLOEXEC));
  auto ruleset = kernel.make(made.rules_);
  if (!ruleset) return ruleset.error();
  made.ruleset_ = *std::move(ruleset);
  return made;
}

std::optional<Error> Sandbox::enter() {
  if (!ruleset_ && !filters_calls_) return std::nullopt;
  const auto restrict = [this] {
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
    return ruleset_ ? restrict_this_thread(ruleset_.get()) : 0;
  };
  if (auto error = each_thread(restrict)) return Error{"--sandbox: " + error->message};
  if (filters_calls_)
    if (auto error = filter_calls(rules_)) return Error{"--sandbox: " + error->message};
  ruleset_ = FileHandle();
  return std::nullopt;
}

}  // namespace parshall::sandbox
