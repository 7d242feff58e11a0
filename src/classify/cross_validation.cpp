// SPDX-License-Identifier: Apache-2.0
#include "classify/cross_validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "base/random.hpp"

namespace parshall {
namespace {

/// Flows of a capture or a fold, by class.
struct Content {
  std::vector<std::uint64_t> by_class;
  std::uint64_t flows = 0;

  explicit Content(std::size_t classes) : by_class(classes) {}
  void add(const Content& other) {
    for (std::size_t id = 0; id < by_class.size(); ++id) by_class[id] += other.by_class[id];
    flows += other.flows;
  }
};

std::vector<Content> contents_of_captures(const Samples& samples) {
  std::vector<Content> contents(samples.capture_names.size(), Content(samples.class_names.size()));
  for (std::size_t flow = 0; flow < samples.size(); ++flow) {
    Content& content = contents[samples.captures[flow]];
    ++content.by_class[samples.classes[flow]];
    ++content.flows;
  }
  return contents;
}

/// Returns the captures with flows, the largest first; captures of the same size are shuffled.
std::vector<std::size_t> order_of(const std::vector<Content>& captures, std::uint64_t seed) {
  std::vector<std::size_t> order;
  for (std::size_t capture = 0; capture < captures.size(); ++capture)
    if (captures[capture].flows != 0) order.push_back(capture);
  SplitMix64 random(seed);
  for (std::size_t left = order.size(); left > 1; --left) std::swap(order[left - 1], order[random.below(left)]);
  std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t capture) { return captures[capture].flows; });
  return order;
}

/// Returns how much a fold already has of what a capture would add. It sums shares of classes, so rare classes count as
/// much as others.
double overlap(const Content& fold, const Content& capture, const Content& all) {
  double sum = 0;
  for (std::size_t id = 0; id < all.by_class.size(); ++id) {
    if (capture.by_class[id] == 0) continue;
    const auto whole = static_cast<double>(all.by_class[id]);
    sum += static_cast<double>(fold.by_class[id]) / whole * (static_cast<double>(capture.by_class[id]) / whole);
  }
  return sum;
}

double share(std::uint64_t part, std::uint64_t whole) noexcept {
  return whole == 0 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

Result<std::vector<std::uint32_t>> folds_of(const Samples& samples, std::uint32_t folds, std::uint64_t seed) {
  const std::vector<Content> captures = contents_of_captures(samples);
  const std::vector<std::size_t> order = order_of(captures, seed);
  if (folds < 2) return Error{fmt::format("{} folds: at least 2 are needed, some to train and others to test", folds)};
  if (order.size() < folds)
    return Error{fmt::format("{} folds of {} captures: each fold needs a capture, so give fewer folds or more captures",
                             folds, order.size())};
  Content all(samples.class_names.size());
  for (const Content& capture : captures) all.add(capture);
  std::vector<Content> filled(folds, Content(samples.class_names.size()));
  std::vector<std::uint32_t> fold_of_capture(captures.size());
  for (const std::size_t capture : order) {
    const auto cost = [&](const Content& fold) { return std::pair(overlap(fold, captures[capture], all), fold.flows); };
    const auto best = std::ranges::min_element(filled, {}, cost);
    best->add(captures[capture]);
    fold_of_capture[capture] = static_cast<std::uint32_t>(best - filled.begin());
  }
  std::vector<std::uint32_t> fold_of_flow;
  for (const std::uint32_t capture : samples.captures) fold_of_flow.push_back(fold_of_capture[capture]);
  return fold_of_flow;
}

std::uint64_t Confusion::flows() const noexcept { return std::accumulate(counts_.begin(), counts_.end(), 0ull); }

std::uint64_t Confusion::flows_of(ClassId of) const noexcept {
  const auto row = counts_.begin() + static_cast<std::ptrdiff_t>(place(of, 0));
  return std::accumulate(row, row + static_cast<std::ptrdiff_t>(classes_ + 1), 0ull);
}

std::uint64_t Confusion::taken_for(ClassId predicted) const noexcept {
  std::uint64_t flows = 0;
  for (std::size_t of = 0; of < classes_; ++of) flows += count(static_cast<ClassId>(of), predicted);
  return flows;
}

double Confusion::accuracy() const noexcept {
  std::uint64_t right = 0;
  for (std::size_t id = 0; id < classes_; ++id) right += count(static_cast<ClassId>(id), static_cast<ClassId>(id));
  return share(right, flows());
}

double Confusion::precision(ClassId id) const noexcept { return share(count(id, id), taken_for(id)); }
double Confusion::recall(ClassId id) const noexcept { return share(count(id, id), flows_of(id)); }

ModelAccuracy Confusion::summary(std::uint32_t folds) const {
  ModelAccuracy summary{.folds = folds, .accuracy = accuracy()};
  for (std::size_t id = 0; id < classes_; ++id) {
    summary.precision.push_back(precision(static_cast<ClassId>(id)));
    summary.recall.push_back(recall(static_cast<ClassId>(id)));
  }
  return summary;
}

std::optional<CrossValidation> cross_validate(const Samples& samples, std::span<const std::uint32_t> folds,
                                              const ModelKind& kind, const TrainingOptions& options,
                                              const std::function<bool()>& stop) {
  CrossValidation result{std::vector<ClassId>(samples.size(), kUnknownClass), std::vector<double>(samples.size()),
                         Confusion(samples.class_names.size())};
  std::vector<double> probabilities(samples.class_names.size());
  for (const std::uint32_t fold : std::set<std::uint32_t>(folds.begin(), folds.end())) {
    if (stop()) return std::nullopt;
    std::vector<bool> is_tested(samples.size());
    for (std::size_t flow = 0; flow < samples.size(); ++flow) is_tested[flow] = folds[flow] == fold;
    const Samples tested = samples.where(is_tested);
    is_tested.flip();
    const auto model = kind.train(samples.where(is_tested), options);
    const std::vector<ClassId> predicted = predict(*model, tested);
    for (std::size_t flow = 0, at = 0; flow < samples.size(); ++flow) {
      if (folds[flow] != fold) continue;
      result.predicted[flow] = predicted[at++];
      model->probabilities(samples.sizes_of(flow), probabilities);
      result.likeliest[flow] = std::ranges::max(probabilities);
    }
  }
  for (std::size_t flow = 0; flow < samples.size(); ++flow)
    result.confusion.add(samples.classes[flow], result.predicted[flow]);
  return result;
}

}  // namespace parshall
