// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/sandbox/sandbox.hpp"
#include "base/result.hpp"
#include "compare/live_comparison.hpp"
#include "compare/report/columns.hpp"
#include "compare/tap_thread.hpp"
#include "pipeline/capture/bpf_filter.hpp"
#include "pipeline/capture/packet_socket.hpp"

namespace parshall::cli {

/// Compares two interfaces of this host while packets pass them.
class InterfacePair {
 public:
  struct Settings {
    std::string up, down;
    OnTheWay on_the_way = OnTheWay::forwarded;
    std::optional<BpfFilter> filter;
    std::uint64_t longest_ns = 1'000'000'000;  ///< that a packet takes from one to the other
    std::uint64_t duration_ns = 0;             ///< 0: until a signal
    std::uint64_t interval_ns = 1'000'000'000;
  };

  /// Parses the texts of the options --wait and --duration into the settings.
  static std::optional<Error> set_times(const std::string& longest, const std::string& duration, Settings& settings);
  /// Returns why these interfaces cannot be compared, by their names.
  static std::optional<Error> problem(const std::string& up, const std::string& down);

  /// `command` starts the messages to the user.
  InterfacePair(const char* command, Settings settings);

  /// Opens both interfaces, which needs privileges.
  std::optional<Error> open();

  /// Gives up privileges and all access but to what is open, for good.
  std::optional<Error> confine();

  /// Compares until a signal, the end of the duration or of an interface, or until `each_second` returns false; then
  /// waits for packets on their way. `each_second` may call compared().
  std::optional<Error> run(const std::function<bool()>& each_second);

  /// Returns when the comparison began, after run().
  std::uint64_t began_ns() const noexcept { return began_ns_; }

  /// Returns the result so far, valid until the next call.
  Compared compared();

  /// Returns why an interface ended before its time.
  std::optional<Error> damage() const;

 private:
  using Clock = std::chrono::steady_clock;

  struct Point {
    std::string name;
    std::unique_ptr<PacketSocket> socket;
    std::unique_ptr<TapThread> thread;
    bool was_up = true;
  };

  std::optional<Error> prepare_filter(const std::vector<LinkType>& link_types);
  void watch(const std::function<bool()>& is_over, const std::function<bool()>& each_second);
  bool caught_up() const { return points_[0].thread->has_caught_up() && points_[1].thread->has_caught_up(); }
  bool has_gone() const { return points_[0].thread->has_ended() || points_[1].thread->has_ended(); }
  void ask();
  void catch_up();
  void take();
  void tell_links();

  const char* command_;
  Settings settings_;
  std::array<Point, 2> points_;
  std::optional<PacketIds> ids_;
  std::optional<LiveComparison> found_;
  std::uint64_t began_ns_ = 0;
  Comparison result_;
  sandbox::Sandbox sandbox_;
};

}  // namespace parshall::cli
