// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <functional>
#include <string>
#include <string_view>

namespace parshall::cli {

/// Notifies the service manager that the run has started, is running, reloads its configuration or ends. Does nothing
/// if no manager asked for it.
///
/// Source: sd_notify(3) and sd_watchdog_enabled(3) of systemd: datagrams to $NOTIFY_SOCKET; $WATCHDOG_USEC for the
///         process $WATCHDOG_PID.
class ServiceNotice {
 public:
  /// Reads this process's environment. An invalid path disables all notices.
  ServiceNotice();
  ~ServiceNotice();
  ServiceNotice(const ServiceNotice&) = delete;
  ServiceNotice& operator=(const ServiceNotice&) = delete;

  void ready() noexcept { send("READY=1"); }
  void reloading() noexcept;  ///< in force until ready()
  void stopping() noexcept { send("STOPPING=1"); }

  /// Sends `status()` once a second; call it regularly. If a watchdog is set, sends four heartbeats per watchdog time,
  /// unless `goes_on()` returns false.
  void look(const std::function<std::string()>& status, const std::function<bool()>& goes_on);

 private:
  using Clock = std::chrono::steady_clock;

  void send(std::string_view text) noexcept;

  int socket_ = -1;                    ///< -1: notices are off
  Clock::duration watchdog_every_{0};  ///< 0: no watchdog
  Clock::time_point next_status_{}, next_watchdog_{};
};

}  // namespace parshall::cli
