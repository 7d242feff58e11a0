// SPDX-License-Identifier: Apache-2.0
#include "classify/model.hpp"

#include <algorithm>

namespace parshall {
namespace {

constexpr double kAlike = 1e-6;  // tolerance for weights that were split and summed again

}  // namespace

ClassId most_likely(std::span<const double> probabilities, double reject) noexcept {
  std::size_t best = 0;
  for (std::size_t id = 1; id < probabilities.size(); ++id)
    if (probabilities[id] > probabilities[best] + kAlike) best = id;
  const bool any = !probabilities.empty() && probabilities[best] > 0;
  return any && probabilities[best] >= reject ? static_cast<ClassId>(best) : kUnknownClass;
}

std::vector<ClassId> predict(const Model& model, const Samples& samples) {
  std::vector<ClassId> predicted(samples.size());
  model.classify(samples.sizes, predicted);
  std::vector<double> probabilities(model.classes().size());
  for (std::size_t flow = 0; flow < samples.size(); ++flow) {
    const auto sizes = samples.sizes_of(flow);
    if (std::ranges::find(sizes, Samples::kMissing) == sizes.end()) continue;
    model.probabilities(sizes, probabilities);
    predicted[flow] = most_likely(probabilities, model.reject());
  }
  return predicted;
}

}  // namespace parshall
