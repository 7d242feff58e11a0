// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tester/device/network.hpp"
#include "tester/device/scenario.hpp"

namespace parshall::tester {

/// A device in a network namespace of its own.
class InNetwork : public Scenario {
 public:
  explicit InNetwork(TestNetwork network) : network_(std::move(network)) {}
  const std::string& send_interface() const noexcept override { return network_.send_interface(); }
  const std::string& receive_interface() const noexcept override { return network_.receive_interface(); }

 protected:
  TestNetwork network_;
};

/// Makes a Linux router. Addresses of built-in traffic with addresses=benchmark (RFC 2544, RFC 5180) are routed from
/// `in0` through `out0` to a neighbour that does not exist. Built-in frames have `in0`'s MAC address as their
/// destination.
Result<TestNetwork> make_router();

}  // namespace parshall::tester
