// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tester/device/network.hpp"
#include "tester/device/scenario.hpp"

namespace parshall::tester {

/// A namespace with something in it that passes frames on.
class InNetwork : public Scenario {
 public:
  explicit InNetwork(TestNetwork network) : network_(std::move(network)) {}
  const std::string& send_interface() const noexcept override { return network_.send_interface(); }
  const std::string& receive_interface() const noexcept override { return network_.receive_interface(); }

 protected:
  TestNetwork network_;
};

/// Linux, forwarding: the addresses of built-in traffic with addresses=benchmark (RFC 2544, RFC 5180) go from `in0` to
/// a neighbour that is not there, by `out0`; built-in frames have `in0`'s address as their destination.
Result<TestNetwork> make_router();

}  // namespace parshall::tester
