// SPDX-License-Identifier: Apache-2.0
// A main for tests that go by the registries: what the lab adds is in them before a test is named after it.
#include <gtest/gtest.h>

#include "lab/rivals/rivals.hpp"

int main(int argc, char** argv) {
  parshall::lab::add_rivals();
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
