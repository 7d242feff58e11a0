// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "classify/samples.hpp"

namespace parshall {

/// Samples of the classes with enough data, and the classes that were left out, with their numbers of flows.
struct Selection {
  struct LeftOut {
    std::string name;
    std::size_t flows, captures;
  };

  Samples samples;  ///< classes are in the order of their names
  std::vector<LeftOut> left_out;
};

/// Selects classes. A class in too few captures cannot be trained with some and tested with others.
Selection select_classes(const Samples& samples, std::size_t least_flows, std::size_t least_captures);

}  // namespace parshall
