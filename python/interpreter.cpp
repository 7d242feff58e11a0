// SPDX-License-Identifier: Apache-2.0
#include "interpreter.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace parshall {
namespace {

using namespace std::chrono_literals;

constexpr auto kSlice = 20ms;  ///< interval between checks for signals
constexpr auto kGrace = 10s;   ///< for work that does not stop, since it may wait for a file

std::atomic<bool> ending{false};
thread_local bool ends_here = false;  ///< true in the thread that ends the interpreter
std::atomic<int> inside{0};           ///< threads that will ask for the interpreter's lock
std::atomic<int> at_work{0};          ///< running errands

struct Ending {
  std::weak_ptr<void> alive;
  std::function<void()> end;
};

/// Returns the list of endings; requires the interpreter's lock, which no other thread can take while a process forks.
std::vector<Ending>& endings() {
  static auto* const all = new std::vector<Ending>;  // never destroyed: the interpreter may end later
  return *all;
}

struct Errand {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_done = false;
  std::exception_ptr problem;
  std::atomic<bool> stop{false};

  bool is_done_within(std::chrono::milliseconds most) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, most, [this] { return is_done; });
  }
};

/// Resets the counts in a child, which has none of its parent's threads.
const int forks = ::pthread_atfork(nullptr, nullptr, [] {
  inside = 0;
  at_work = 0;
});

/// Blocks this thread for ever. Asking for the interpreter's lock now would end it in the middle of C++ code.
void stay_for_good() {
  --inside;
  for (;;) ::pause();
}

}  // namespace

Unlocked::Unlocked() : state_(nullptr) {
  if (ending && ends_here) throw PythonError("the interpreter ends");
  ++inside;
  state_ = PyEval_SaveThread();
  if (ending && !ends_here) stay_for_good();
}

Unlocked::~Unlocked() {
  if (ending && !ends_here) stay_for_good();
  PyEval_RestoreThread(state_);
  --inside;
}

Visit::Visit() noexcept { ++inside; }
Visit::~Visit() { --inside; }

bool is_interrupted() {
  if (ending && !ends_here) stay_for_good();
  const nb::gil_scoped_acquire lock;
  if (PyErr_CheckSignals() == 0) return false;
  PyErr_Clear();
  return true;
}

void at_interpreter_end(std::weak_ptr<void> alive, std::function<void()> end) {
  std::vector<Ending>& all = endings();
  if (all.size() == all.capacity()) std::erase_if(all, [](const Ending& one) { return one.alive.expired(); });
  all.push_back({std::move(alive), std::move(end)});
}

bool interpreter_ends() noexcept { return ending; }

void end_with_interpreter() {
  const std::vector<Ending> all = std::exchange(endings(), {});
  ends_here = true;
  ending = true;
  PyThreadState* const state = PyEval_SaveThread();
  for (const Ending& one : all)
    if (const auto alive = one.alive.lock()) one.end();

  const auto until = std::chrono::steady_clock::now() + kGrace;
  while ((inside > 0 || at_work > 0) && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(1ms);

  PyEval_RestoreThread(state);
}

namespace {

std::shared_ptr<Errand> begin(ErrandWork work) {
  { const Unlocked is_possible; }
  auto errand = std::make_shared<Errand>();
  at_interpreter_end(errand, [errand = errand.get()] { errand->stop = true; });
  ++at_work;
  try {
    std::thread([errand = errand, work = std::move(work)]() mutable {
      try {
        work([&] { return errand->stop.load(std::memory_order_relaxed); });
      } catch (...) {
        errand->problem = std::current_exception();
      }
      work = nullptr;  // together with what it holds
      {
        const std::lock_guard lock(errand->mutex);
        errand->is_done = true;
      }
      errand->changed.notify_all();
      errand.reset();
      --at_work;
    }).detach();
  } catch (...) {
    --at_work;
    throw;
  }
  return errand;
}

}  // namespace

void begin_errand(ErrandWork work) { begin(std::move(work)); }

void run_errand(ErrandWork work) {
  const auto errand = begin(std::move(work));
  for (bool is_done = false; !is_done;) {
    {
      const Unlocked unlocked;
      is_done = errand->is_done_within(kSlice);
    }
    if (!is_done && PyErr_CheckSignals() != 0) {
      errand->stop = true;
      throw nb::python_error();
    }
  }
  if (errand->problem) std::rethrow_exception(errand->problem);
}

}  // namespace parshall
