// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "tester/host/network_space.hpp"

namespace parshall::tester {

/// A network namespace with two interfaces, `in0` and `out0`, whose other ends are in the present namespace: a place
/// for a device under test.
class TestNetwork {
 public:
  static Result<TestNetwork> make();

  /// Returns the near ends. Frames sent by the first come out of `in0`; frames that `out0` sends arrive at the second.
  const std::string& send_interface() const noexcept { return send_; }
  const std::string& receive_interface() const noexcept { return receive_; }
  const NetworkSpace& space() const noexcept { return space_; }

 private:
  TestNetwork(NetworkSpace space, const std::string& stem)
      : space_(std::move(space)), send_(stem + "a"), receive_(stem + "b") {}

  NetworkSpace space_;
  std::string send_, receive_;
};

}  // namespace parshall::tester
