// SPDX-License-Identifier: Apache-2.0
// What all that Python calls has in common: errors, the interpreter's lock, Ctrl-C, and its end.
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

/// In the words of the command line.
struct PythonError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class T>
T value_or_raise(Result<T> result) {
  if (!result) throw PythonError(result.error().message);
  return *std::move(result);
}

/// The interpreter is free for other threads while one lives. Once it ends, a thread that would go on in it stays here
/// for good, as the interpreter itself has it, and the thread that ends it gets a PythonError.
class Unlocked {
 public:
  Unlocked();
  ~Unlocked();
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  PyThreadState* state_;
};

/// For code that other libraries call without the interpreter's lock, and that may ask for it: the interpreter's end
/// waits for it.
class Visit {
 public:
  Visit() noexcept;
  ~Visit();
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;
};

/// Whether Ctrl-C was pressed. Without the lock, within a Visit. What a signal's handler raises is lost: who asks has
/// an error of his own. Once the interpreter ends it does not return.
bool is_interrupted();

/// For what is to end with the interpreter: called once, without the lock. What is gone by then is not called. With the
/// lock.
void at_interpreter_end(std::weak_ptr<void> alive, std::function<void()> end);

/// With the lock: whether everything that ran has been ended, and nothing more can begin.
bool interpreter_ends() noexcept;

/// Ends all that runs, and waits for it. Python calls it before it takes itself apart.
void end_with_interpreter();

using ErrandWork = std::function<void(const std::function<bool()>& stop)>;

/// Runs work(stop) in a thread of its own, which ends before the interpreter does, and loses what it throws.
void begin_errand(ErrandWork work);

/// Runs work(stop) in a thread of its own while other threads of Python run, and raises what it threw. At Ctrl-C it is
/// told to stop, and left alone: it ends before the interpreter does.
void run_errand(ErrandWork work);

/// What work(stop) returns. Ctrl-C raises KeyboardInterrupt at once; the work is asked to stop, and forgotten.
template <class Work>
auto run_apart(Work work) {
  using Outcome = decltype(work(std::function<bool()>()));
  auto outcome = std::make_shared<std::optional<Outcome>>();
  run_errand([outcome, work = std::move(work)](const std::function<bool()>& stop) { outcome->emplace(work(stop)); });
  return *std::move(*outcome);
}

}  // namespace parshall
