// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <functional>
#include <string>
#include <string_view>

namespace parshall::cli {

/// Tells a service manager how the run is: that it began, goes on, reads its configuration again, and ends. Nothing
/// where none asked for it.
///
/// Source: sd_notify(3), sd_watchdog_enabled(3) of systemd: datagrams to $NOTIFY_SOCKET; $WATCHDOG_USEC of
/// $WATCHDOG_PID.
class ServiceNotice {
 public:
  /// Of this process's environment. A path that is none says nothing to nobody.
  ServiceNotice();
  ~ServiceNotice();
  ServiceNotice(const ServiceNotice&) = delete;
  ServiceNotice& operator=(const ServiceNotice&) = delete;

  void ready() noexcept { send("READY=1"); }
  void reloading() noexcept;  ///< until ready()
  void stopping() noexcept { send("STOPPING=1"); }

  /// Now and then: each second what `status()` says; and, where a watchdog waits for it, four times in its time that
  /// the run goes on, unless `goes_on()` denies it.
  void look(const std::function<std::string()>& status, const std::function<bool()>& goes_on);

 private:
  using Clock = std::chrono::steady_clock;

  void send(std::string_view text) noexcept;

  int socket_ = -1;                    ///< -1: nobody asked
  Clock::duration watchdog_every_{0};  ///< 0: none
  Clock::time_point next_status_{}, next_watchdog_{};
};

}  // namespace parshall::cli
