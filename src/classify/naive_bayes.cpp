// SPDX-License-Identifier: Apache-2.0
#include "classify/naive_bayes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "base/prefetch.hpp"
#include "classify/model_reader.hpp"
#include "classify/toml_text.hpp"

namespace parshall {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kNegligible = -50;  // exp() of it, summed over all classes, is below the last digit of 1
constexpr double kRounding = 1e-6;   // exceeds the error of sums and exp()
constexpr double kComputed = 30;     // for larger margins, the last digits of probabilities decide
constexpr std::size_t kLanes = 8, kLine = 64;
constexpr std::size_t kAhead = 8;  // flows whose rows are being prefetched
constexpr std::string_view kKeys[] = {"class"}, kClassKeys[] = {"name", "mean", "variance", "prior"};
constexpr ModelReader::Range kMean{0, 65535}, kVariance{NaiveBayes::kLeastVariance, 1e12}, kPrior{0, 1};

using Doubles [[gnu::vector_size(kLine), gnu::may_alias]] = double;
using Numbers [[gnu::vector_size(kLine)]] = std::int64_t;

std::size_t width_of(std::size_t classes) { return (classes + kLanes - 1) / kLanes * kLanes; }

double log_density(const NaiveBayes::Normal& normal, double size) noexcept {
  if (!normal.is_known()) return -kInfinity;
  const double distance = size - normal.mean;
  return -0.5 * std::log(2 * std::numbers::pi * normal.variance) - distance * distance / (2 * normal.variance);
}

Doubles sums_of(std::span<const double* const> rows, std::size_t first) noexcept {
  Doubles sums = *reinterpret_cast<const Doubles*>(rows[0] + first);
  for (std::size_t packet = 1; packet < rows.size(); ++packet)
    sums += *reinterpret_cast<const Doubles*>(rows[packet] + first);
  return sums;
}

struct Best {
  double sum, second;
  std::int64_t id;
};

/// Greatest sum so far in each lane (of equal ones the first) and, on request, the second greatest.
template <bool WithSecond>
struct Leaders {
  Doubles best, second;
  Numbers ids;

  void challenge(const Doubles& sums, const Doubles& seconds, const Numbers& others) noexcept {
    const Numbers is_better = (sums > best) | ((sums == best) & (others < ids));
    if constexpr (WithSecond) {
      const Doubles lesser = is_better ? best : sums;
      second = seconds > second ? seconds : second;
      second = lesser > second ? lesser : second;
    }
    best = is_better ? sums : best;
    ids = is_better ? others : ids;
  }

  /// Compares each lane with the one at its place in Order.
  template <int... Order>
  void challenge_each_other() noexcept {
    challenge(__builtin_shufflevector(best, best, Order...), __builtin_shufflevector(second, second, Order...),
              __builtin_shufflevector(ids, ids, Order...));
  }
};

template <bool WithSecond>
Best best_of(std::span<const double* const> rows, std::size_t width) noexcept {
  const Doubles none = Doubles{} - kInfinity;
  Numbers lane{0, 1, 2, 3, 4, 5, 6, 7};
  Leaders<WithSecond> leaders{sums_of(rows, 0), none, lane};
  for (std::size_t first = kLanes; first < width; first += kLanes) {
    lane += static_cast<std::int64_t>(kLanes);
    leaders.challenge(sums_of(rows, first), none, lane);
  }
  leaders.template challenge_each_other<4, 5, 6, 7, 0, 1, 2, 3>();
  leaders.template challenge_each_other<2, 3, 0, 1, 6, 7, 4, 5>();
  leaders.template challenge_each_other<1, 0, 3, 2, 5, 4, 7, 6>();
  return {leaders.best[0], leaders.second[0], leaders.ids[0]};
}

/// Sums for one class and packet, in whole numbers, so that variances are exact except for their last digit.
struct Moments {
  std::uint64_t count = 0, sum = 0, squares = 0;

  void add(std::uint64_t size) noexcept { ++count, sum += size, squares += size * size; }
  NaiveBayes::Normal normal(double least_variance) const noexcept {
    if (count == 0) return {kNaN, kNaN};
    const auto n = static_cast<double>(count);
    const auto spread = static_cast<unsigned __int128>(count) * squares - static_cast<unsigned __int128>(sum) * sum;
    return {static_cast<double>(sum) / n, std::max(static_cast<double>(spread) / n / n, least_variance)};
  }
};

}  // namespace

NaiveBayes::NaiveBayes(ModelHead head, std::vector<Normal> normals, std::vector<double> priors)
    : Model(std::move(head)),
      normals_(std::move(normals)),
      priors_(std::move(priors)),
      width_(width_of(classes().size())) {
  if (table_bytes(packets(), longest(), classes().size()) > kMostTableBytes)
    throw std::length_error(
        "a table of naive Bayes has at most 1 GB: use fewer packets or classes, or a lower `longest`");
  const double odds = reject() / (1 - reject());
  unsure_ = std::min(std::log(odds), kComputed) - kRounding;
  sure_ = std::log(odds * static_cast<double>(classes().size() - 1)) + kRounding;
  table_ = HugeBuffer<double>(packets() * (longest() + std::size_t{1}) * width_);
  fill_table();
}

std::size_t NaiveBayes::table_bytes(std::size_t packets, std::uint16_t longest, std::size_t classes) noexcept {
  return packets * (longest + std::size_t{1}) * width_of(classes) * sizeof(double);
}

/// Returns a class's log probability before any size is known.
double NaiveBayes::start(std::size_t id) const noexcept {
  if (!priors_.empty()) return std::log(priors_[id]);
  const auto own = std::span(normals_).subspan(id * packets(), packets());
  return std::ranges::any_of(own, &Normal::is_known) ? 0 : -kInfinity;
}

void NaiveBayes::fill_table() {
  std::fill_n(table_.data(), table_.size(), -kInfinity);
  for (std::size_t packet = 0; packet < packets(); ++packet) {
    double* const rows = table_.data() + packet * (longest() + std::size_t{1}) * width_;
    for (std::size_t id = 0; id < classes().size(); ++id) {
      const double first = packet == 0 ? start(id) : 0;
      for (std::size_t size = 0; size <= longest(); ++size)
        rows[size * width_ + id] = first + log_density(normals_[id * packets() + packet], static_cast<double>(size));
    }
  }
}

const double* NaiveBayes::row(std::size_t packet, std::uint16_t size) const noexcept {
  return table_.data() + (packet * (longest() + std::size_t{1}) + std::min(size, longest())) * width_;
}

double NaiveBayes::posterior(std::span<const double* const> rows, double best) const noexcept {
  double all = 0;
  for (std::size_t id = 0; id < classes().size(); ++id) {
    double sum = 0;
    for (const double* const row : rows) sum += row[id];
    if (sum - best > kNegligible) all += std::exp(sum - best);
  }
  return 1 / all;
}

template <bool WithReject>
ClassId NaiveBayes::class_of(std::span<const double* const> rows) const noexcept {
  const Best best = best_of<WithReject>(rows, width_);
  const auto id = static_cast<ClassId>(best.id);
  if (best.sum == -kInfinity) return kUnknownClass;
  if constexpr (WithReject) {
    const double margin = best.sum - best.second;
    if (margin < unsure_) return kUnknownClass;
    if (margin <= sure_ && posterior(rows, best.sum) < reject()) return kUnknownClass;
  }
  return id;
}

void NaiveBayes::classify(std::span<const std::uint16_t> sizes, std::span<ClassId> ids) const noexcept {
  std::array<std::array<const double*, kMostFirstPackets>, kAhead> ring;
  const std::size_t count = packets(), row_lines = width_ * sizeof(double) / kLine;
  const auto ask_for = [&](std::size_t flow) {
    for (std::size_t packet = 0; packet < count; ++packet) {
      const double* const at = row(packet, sizes[flow * count + packet]);
      for (std::size_t line = 0; line < row_lines; ++line) prefetch_line(at + line * kLanes);
      ring[flow % kAhead][packet] = at;
    }
  };
  for (std::size_t flow = 0; flow < std::min(kAhead, ids.size()); ++flow) ask_for(flow);
  const bool with_reject = reject() > 0;
  for (std::size_t flow = 0; flow < ids.size(); ++flow) {
    const std::span<const double* const> rows(ring[flow % kAhead].data(), count);
    ids[flow] = with_reject ? class_of<true>(rows) : class_of<false>(rows);
    if (flow + kAhead < ids.size()) ask_for(flow + kAhead);
  }
}

void NaiveBayes::probabilities(std::span<const std::uint16_t> sizes, std::span<double> out) const {
  for (std::size_t id = 0; id < out.size(); ++id) {
    out[id] = start(id);
    for (std::size_t packet = 0; packet < packets(); ++packet)
      if (sizes[packet] != Samples::kMissing)
        out[id] += log_density(normals_[id * packets() + packet], std::min(sizes[packet], longest()));
  }
  const double best = *std::ranges::max_element(out);
  for (double& value : out) value = best > -kInfinity ? std::exp(value - best) : 0;
  const double all = std::accumulate(out.begin(), out.end(), 0.0);
  for (double& value : out) value = all > 0 ? value / all : 0;
}

std::unique_ptr<Model> NaiveBayes::train(const Samples& samples, const TrainingOptions& options) {
  const std::size_t classes = samples.class_names.size();
  std::vector<Moments> moments(classes * samples.packets);
  for (std::size_t flow = 0; flow < samples.size(); ++flow) {
    const auto sizes = samples.sizes_of(flow);
    for (std::size_t packet = 0; packet < samples.packets; ++packet)
      if (sizes[packet] != Samples::kMissing)
        moments[samples.classes[flow] * samples.packets + packet].add(std::min(sizes[packet], options.longest));
  }
  std::vector<Normal> normals;
  const double least_variance = std::max(options.variance_floor, kLeastVariance);
  for (const Moments& of_one : moments) normals.push_back(of_one.normal(least_variance));
  std::vector<double> priors;
  if (options.use_priors && samples.size() > 0)
    for (const std::uint64_t flows : samples.flows_by_class())
      priors.push_back(static_cast<double>(flows) / static_cast<double>(samples.size()));
  return std::make_unique<NaiveBayes>(ModelHead{samples.packets, options.longest, options.reject, samples.class_names},
                                      std::move(normals), std::move(priors));
}

std::string NaiveBayes::parameters() const {
  std::string toml = fmt::format("[{}]\n# The sizes of each packet, in bytes and bytes^2.\n", kKind);
  for (std::size_t id = 0; id < classes().size(); ++id) {
    std::vector<double> means, variances;
    for (std::size_t packet = 0; packet < packets(); ++packet) {
      means.push_back(normals_[id * packets() + packet].mean);
      variances.push_back(normals_[id * packets() + packet].variance);
    }
    toml += fmt::format("[[{}.class]]\nname = {}\nmean = {}\nvariance = {}\n", kKind, toml_string(classes()[id]),
                        listed(means), listed(variances));
    if (!priors_.empty()) toml += fmt::format("prior = {}\n", priors_[id]);
  }
  return toml;
}

std::unique_ptr<Model> NaiveBayes::read(ModelHead head, ModelReader& reader) {
  const toml::table* const own = reader.table(reader.file(), kKind);
  if (own == nullptr) return nullptr;
  reader.check_keys(*own, kKeys);
  reader.wanted(*own, "class");
  if (table_bytes(head.packets, head.longest, head.classes.size()) > kMostTableBytes)
    reader.complain(*own, "packets, longest and classes make a table above 1 GB: train with a lower longest");
  std::vector<Normal> normals;
  std::vector<double> priors;
  std::size_t id = 0;
  reader.each(*own, "class", [&](const toml::table& from) {
    reader.check_keys(from, kClassKeys);
    if (id >= head.classes.size() || reader.text(from, "name") != head.classes[id])
      reader.complain(from, "there must be one class for each in the list of classes, in the same order");
    ++id;
    const auto means = reader.numbers(from, "mean", head.packets, kMean);
    const auto variances = reader.numbers(from, "variance", head.packets, kVariance);
    if (means.size() != variances.size()) return;  // the reader has complained
    for (std::size_t packet = 0; packet < means.size(); ++packet) {
      normals.push_back({means[packet], variances[packet]});
      if (std::isnan(means[packet]) != std::isnan(variances[packet]))
        reader.complain(from, "mean and variance must be absent for the same packets");
    }
    if (from.contains("prior")) priors.push_back(reader.number(from, "prior", kPrior));
  });
  if (id != head.classes.size())
    reader.complain(*own,
                    fmt::format("there are {} classes here, but {} in the list of classes", id, head.classes.size()));
  if (!priors.empty() && priors.size() != id) reader.complain(*own, "either all classes must have a prior, or none");
  if (reader.problem()) return nullptr;
  return std::make_unique<NaiveBayes>(std::move(head), std::move(normals), std::move(priors));
}

}  // namespace parshall
