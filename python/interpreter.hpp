// SPDX-License-Identifier: Apache-2.0
// Common parts of all calls from Python: errors, the interpreter's lock, Ctrl-C, and the interpreter's end.
#pragma once
#include <nanobind/nanobind.h>

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "base/result.hpp"

namespace parshall {

namespace nb = nanobind;

/// Error with the command line's wording.
struct PythonError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class T>
T value_or_raise(Result<T> result) {
  if (!result) throw PythonError(result.error().message);
  return *std::move(result);
}

/// Releases the interpreter for other threads while it exists. If the interpreter ends, a thread that would return to
/// it blocks for ever, as in the interpreter itself; the thread that ends it gets a PythonError.
class Unlocked {
 public:
  Unlocked();
  ~Unlocked();
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  PyThreadState* state_;
};

/// Protects code that other libraries call without the interpreter's lock, and that may ask for it: the interpreter's
/// end waits for it.
class Visit {
 public:
  Visit() noexcept;
  ~Visit();
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;
};

/// Returns true if Ctrl-C was pressed. Call it without the lock, within a Visit. An exception from a signal handler is
/// lost, since the caller raises an error of its own. Does not return once the interpreter ends.
bool is_interrupted();

/// Registers a function to call once at the interpreter's end, without the lock. It is not called if `alive` has
/// expired. Requires the lock.
void at_interpreter_end(std::weak_ptr<void> alive, std::function<void()> end);

/// Returns true if all work has been ended and no more can begin. Requires the lock.
bool interpreter_ends() noexcept;

/// Ends all work and waits for it. Python calls this before it shuts down.
void end_with_interpreter();

using ErrandWork = std::function<void(const std::function<bool()>& stop)>;

/// Runs work(stop) in a thread of its own, which ends before the interpreter does. Exceptions are discarded.
void begin_errand(ErrandWork work);

/// Runs work(stop) in a thread of its own while other Python threads run, and rethrows its exception. At Ctrl-C, the
/// work is asked to stop and abandoned; it ends before the interpreter does.
void run_errand(ErrandWork work);

/// Returns the result of work(stop). Ctrl-C raises KeyboardInterrupt at once; the work is asked to stop, and abandoned.
template <class Work>
auto run_apart(Work work) {
  using Outcome = decltype(work(std::function<bool()>()));
  auto outcome = std::make_shared<std::optional<Outcome>>();
  run_errand([outcome, work = std::move(work)](const std::function<bool()>& stop) { outcome->emplace(work(stop)); });
  return *std::move(*outcome);
}

}  // namespace parshall
