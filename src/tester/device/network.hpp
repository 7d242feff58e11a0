// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "base/result.hpp"
#include "tester/device/command.hpp"

namespace parshall::tester {

/// A network namespace with two interfaces, `in0` and `out0`, whose other ends are in ours: a place for a device under
/// test. It goes with all that is in it, when this goes.
///
/// Needs: CAP_SYS_ADMIN and CAP_NET_ADMIN, and ip(8) of iproute2.
class TestNetwork {
 public:
  static Result<TestNetwork> make();
  TestNetwork(TestNetwork&& other) noexcept;
  TestNetwork(const TestNetwork&) = delete;
  TestNetwork& operator=(const TestNetwork&) = delete;
  ~TestNetwork();

  /// Our ends: frames sent by the first come out of `in0`, those that `out0` sends come to the second.
  const std::string& send_interface() const noexcept { return send_; }
  const std::string& receive_interface() const noexcept { return receive_; }
  const std::string& name() const noexcept { return name_; }

  /// Runs a program inside.
  Result<std::string> run(Words words, const std::string& input = {}) const {
    return run_command(inside(std::move(words)), input);
  }
  Words inside(Words words) const;

 private:
  explicit TestNetwork(const std::string& stem);

  std::string name_, send_, receive_;
};

}  // namespace parshall::tester
