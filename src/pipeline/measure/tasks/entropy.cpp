// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "pipeline/measure/tasks/missing.hpp"
#include "pipeline/measure/tasks/task.hpp"

namespace parshall {
namespace {

constexpr Parameter kEntropyParameters[] = {
    {"key", "src", "part of the key whose entropy is computed"},
    {"by", "packets", "quantity that is distributed: packets, ip_bytes, wire_bytes, flows or new_flows"},
};

/// Shannon's entropy of the window's traffic over the values of a part of the key: H = log2 N - (sum c log2 c) / N,
/// with c of N for each of n keys. Normalised, H / log2 n is 1 for even traffic and 0 if all is in one key.
///
/// Error: none but rounding while the keys fit into the aggregate. Dropped keys, with D of N in all and at most m each,
///        are taken to have had the most entropy possible, each drop anew. So H is too large by at most (D / N) log2 m
///        + log2(drops + 1), and by at most (D / N) log2(e N). The number of keys in the normalised value is too large
///        by at most the dropped ones.
/// Source: Lall, Sekar, Ogihara, Xu, Zhang, "Data streaming algorithms for estimating entropy of network traffic",
///         SIGMETRICS 2006, section 2; the bound is the entropy of a split.
class Entropy final : public Task {
 public:
  Entropy(Arguments& arguments, TaskContext& context)
      : aggregate_(context.aggregate(arguments.key("key", context.fields()))), amount_(arguments.amount("by")) {}

  void end(EventWriter& events) override {
    constexpr double kUnits = 0x1p32;  // integers, so that the sum does not depend on the order of the keys
    __int128 units = 0;
    double total = 0;
    for (const auto& entry : aggregate_.entries()) {
      const auto count = static_cast<double>(entry.value.*amount_.of);
      if (count == 0) continue;
      total += count;
      units += static_cast<__int128>(count * std::log2(count) * kUnits);
    }
    double sum = static_cast<double>(units) / kUnits;
    const auto dropped = static_cast<double>(aggregate_.dropped().*amount_.of);
    const auto keys = static_cast<double>(aggregate_.entries().size());
    if (total + dropped == 0) return;
    const double dropped_keys = std::min(static_cast<double>(aggregate_.dropped_keys()), dropped);
    if (dropped > 0) sum += dropped * std::log2(dropped / dropped_keys);
    const double all = total + dropped;
    const double bits = std::max(0.0, std::log2(all) - sum / all);
    const double most = std::log2(keys + static_cast<double>(aggregate_.dropped_keys()));
    const std::vector<EventValue> error = error_of(events.window(), dropped, all);
    write_left_out(events, aggregate_, error);
    events.write_summary({{"entropy_bits", bits},
                          {"normalised", most > 0 ? std::min(1.0, bits / most) : 0},
                          {"keys", aggregate_.entries().size() + aggregate_.dropped_keys()}},
                         error);
  }

 private:
  std::vector<EventValue> error_of(const EventWindow& window, double dropped, double all) const {
    std::vector<EventValue> error;
    if (dropped > 0)
      error.push_back({"entropy_bits_too_many", std::min(dropped / all * std::log2(most_of_one()) +
                                                             std::log2(static_cast<double>(aggregate_.drops()) + 1),
                                                         dropped / all * std::log2(std::exp(1.0) * all))});
    if (aggregate_.dropped_keys() != 0) error.push_back({"keys_too_many", aggregate_.dropped_keys()});
    if (const std::uint64_t untold = untold_of(window).packets; untold != 0)
      error.push_back({"packets_missing", untold});
    return error;
  }

  double most_of_one() const noexcept {
    return std::max(1.0, static_cast<double>(aggregate_.most_missing().*amount_.of));
  }

  const Aggregate& aggregate_;
  const Amount& amount_;
};

}  // namespace

extern const TaskEntry kEntropy{
    "entropy",
    "Shannon entropy of the traffic over addresses, ports or flows",
    "entropy in bits, entropy normalised to [0, 1], and number of keys",
    "exact if the window has at most --task-keys keys; else too large by at most the stated error",
    kEntropyParameters,
    [](Arguments& arguments, TaskContext& context) -> std::unique_ptr<Task> {
      return std::make_unique<Entropy>(arguments, context);
    },
    /*finds_any=*/false};

}  // namespace parshall
