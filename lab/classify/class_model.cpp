// SPDX-License-Identifier: Apache-2.0
#include "lab/classify/class_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/random.hpp"

namespace parshall::lab {

Samples made_samples(std::size_t classes, std::size_t packets, std::uint64_t seed) {
  constexpr int kFlows = 500;
  Samples made{.packets = packets};
  SplitMix64 random(seed);
  std::vector<double> mean(packets);
  std::vector<std::uint16_t> sizes(packets);
  for (std::size_t id = 0; id < classes; ++id) {
    for (double& size : mean) size = 40 + 1400 * random.uniform();
    for (int flow = 0; flow < kFlows; ++flow) {
      for (std::size_t i = 0; i < packets; ++i)
        sizes[i] = static_cast<std::uint16_t>(std::clamp(mean[i] + 300 * (random.uniform() - 0.5), 40.0, 1500.0));
      made.add(sizes, fmt::format("class {}", id), "made");
    }
  }
  return made;
}

}  // namespace parshall::lab
