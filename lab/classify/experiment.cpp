// SPDX-License-Identifier: Apache-2.0
#include "lab/classify/experiment.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <numeric>
#include <optional>
#include <thread>

#include "base/machine.hpp"
#include "lab/cores/scheduling.hpp"

namespace parshall::lab {
namespace {

constexpr auto kSniffing = static_cast<std::size_t>(Module::sniffing);

/// One run, and its load.
struct RunSample {
  double load = 0;
  double offered_mpps, sniffed_mpps, handled_mpps, classified_mpps, classified_kfps, told_share, lost_share;
  std::uint64_t offered, missed, ring_full, refused;
  std::array<double, kModules> cpu_share{}, cpu_ns{};
  std::string thread_cpu;
  std::uint64_t resident_bytes;
};

double share_of(std::uint64_t part, std::uint64_t all) noexcept {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

std::string percents(const CrewRun& run) {
  std::string text;
  for (const auto& module : run.cpu_ns)
    for (const double ns : module) text += fmt::format("{}{:.0f}", text.empty() ? "" : "+", ns / run.seconds / 1e7);
  return text;
}

RunSample sample_of(const CrewRun& run, double load) {
  using Each = const ChainRun&;
  const std::uint64_t polled = run.sum([](Each chain) { return chain.accounting[Counter::polled]; });
  const std::uint64_t handled = run.sum([](Each chain) { return chain.accounting[Counter::arrived]; });
  const std::uint64_t classified = run.sum([](Each chain) { return chain.classified; });
  RunSample sample{.load = load,
                   .offered = run.sum([](Each chain) { return chain.accounting.offered(); }),
                   .missed = run.sum([](Each chain) { return chain.accounting.device_lost(); }),
                   .ring_full = run.sum([](Each chain) { return chain.accounting[Counter::ring_full]; }),
                   .refused = run.sum([](Each chain) { return chain.jobs.refused; }),
                   .thread_cpu = percents(run),
                   .resident_bytes = run.resident_bytes};
  const auto mega = [](std::uint64_t count, double seconds) { return static_cast<double>(count) / seconds / 1e6; };
  sample.offered_mpps = mega(sample.offered, run.sniffing_s);
  sample.sniffed_mpps = mega(polled, run.sniffing_s);
  sample.handled_mpps = mega(handled, run.seconds);
  sample.classified_mpps = mega(run.sum([](Each chain) { return chain.classified_packets; }), run.seconds);
  sample.classified_kfps = mega(classified, run.seconds) * 1e3;
  sample.told_share = share_of(run.sum([](Each chain) { return chain.told; }), classified);
  sample.lost_share = share_of(sample.missed + sample.ring_full, sample.offered);
  for (std::size_t module = 0; module < kModules; ++module) {
    const double ns = std::accumulate(run.cpu_ns[module].begin(), run.cpu_ns[module].end(), 0.0);
    sample.cpu_share[module] = ns / run.seconds / 1e9;
    sample.cpu_ns[module] =
        ns / static_cast<double>(std::max<std::uint64_t>(module == kSniffing ? polled : handled, 1));
  }
  return sample;
}

class Classifying {
 public:
  explicit Classifying(const ClassifySweep& sweep) : sweep_(&sweep), cores_(usable_cores()) {}

  std::vector<ClassifyRow> rows() const {
    std::vector<ClassifyRow> rows;
    for (const Placement placement : sweep_->placements)
      for (const ClassifyShape* shape : sweep_->shapes) {
        ClassifyRow& row = rows.emplace_back(ClassifyRow{.shape = shape, .placement = placement});
        row.cores = placement == Placement::chain ? std::min(shape->all_queues(), cores_.size())
                                                  : std::min(shape->threads(), cores_.size());
        row.affinity = placement == Placement::chain ? affinity_of(*shape) : "any";
        row.memory_bytes = ClassifyCrew::memory_bytes(options_of(row));
      }
    return rows;
  }

  /// Measures a row; returns nullopt if `stop` returned true.
  Result<std::optional<RunSample>> measure(const ClassifyRow& row, double& guess, const std::function<bool()>& stop) {
    if (sweep_->find_rate) return find(row, guess, stop);
    if (stop()) return std::optional<RunSample>();
    auto sample = run_once(row, 1);
    if (!sample) return sample.error();
    return std::optional<RunSample>(*std::move(sample));
  }

 private:
  static constexpr int kMostProbes = 9;
  static constexpr double kNearEnough = 1.05;  ///< ratio of the lowest load with loss to the highest without

  CrewOptions options_of(const ClassifyRow& row) const {
    return {.shape = row.shape,
            .placement = row.placement,
            .cores = cores_,
            .table = sweep_->table,
            .flows = sweep_->flows,
            .timeouts = {.idle_ns = sweep_->idle_ns},
            .classifier = sweep_->classifier,
            .ring_packets = sweep_->ring_packets,
            .seed = sweep_->seed};
  }

  std::string affinity_of(const ClassifyShape& shape) const {
    std::string text;
    const auto add = [&](std::size_t place) {
      text += fmt::format("{}{}", text.empty() ? "" : ",", cores_[place % cores_.size()]);
    };
    for (const int module : {0, 1})
      for (std::size_t queue = 0; queue < shape.all_queues() && (module == 0 || !shape.inlined); ++queue) add(queue);
    for (std::size_t chain = 0; chain < shape.chains && !shape.inlined; ++chain) add(chain);
    return text;
  }

  /// Runs in a thread with precise sleeps, which the threads that it starts inherit.
  Result<RunSample> run_once(const ClassifyRow& row, double load) {
    Result<RunSample> sample = Error{};
    std::thread([&] {
      ::prctl(PR_SET_TIMERSLACK, 1);
      try {
        std::vector<std::unique_ptr<PacketSource>> queues;
        for (std::size_t interface = 0; interface < row.shape->interfaces; ++interface)
          for (std::size_t queue = 0; queue < row.shape->queues; ++queue)
            queues.push_back(
                sweep_->traffic->source({interface, queue, row.shape->queues}, load, sweep_->queue_packets));
        ClassifyCrew crew(options_of(row), std::move(queues));
        const auto run = crew.run(std::chrono::nanoseconds(static_cast<std::int64_t>(sweep_->seconds * 1e9)));
        sample = run ? Result<RunSample>(sample_of(*run, load)) : Result<RunSample>(run.error());
      } catch (const std::bad_alloc&) {
        sample = Error{fmt::format("not enough memory for the tables of {}: give fewer with --flows", name_of(row))};
      }
    }).join();
    return sample;
  }

  /// Repeats a run whose small loss may be due to another program; returns the better of both.
  Result<RunSample> run_unless_disturbed(const ClassifyRow& row, double load) {
    constexpr double kMayBeDisturbed = 0.05;
    auto sample = run_once(row, load);
    if (!sample || sample->lost_share <= kLossless || sample->lost_share > kMayBeDisturbed) return sample;
    auto again = run_once(row, load);
    return !again || again->lost_share < sample->lost_share ? std::move(again) : std::move(sample);
  }

  /// Finds the highest load without loss; if there is none, returns the last run. `guess`: the last load found, or 0.
  Result<std::optional<RunSample>> find(const ClassifyRow& row, double& guess, const std::function<bool()>& stop) {
    std::optional<RunSample> best;
    double worst = 0, load = guess > 0 ? guess : 1;  // worst: the lowest load that lost
    for (int probe = 0; probe < kMostProbes; ++probe) {
      if (stop()) return std::optional<RunSample>();
      auto sample = run_unless_disturbed(row, load);
      if (!sample) return sample.error();
      if (sample->lost_share <= kLossless) {
        best = *std::move(sample);
        if (load == 1) break;
        load = worst > 0 ? std::sqrt(load * worst) : std::min(1.0, 1.2 * load);
      } else {
        worst = load;
        const double most = load * (1 - sample->lost_share);  // rate that it might have handled alone
        load = best ? std::sqrt(best->load * worst) : std::clamp(0.95 * most, 0.3 * worst, 0.8 * worst);
        if (!best && probe + 1 == kMostProbes) best = RunSample(*std::move(sample)), best->load = 0;
      }
      if (best && worst > 0 && worst <= kNearEnough * best->load) break;
    }
    guess = best->load;
    return best;
  }

  const ClassifySweep* sweep_;
  std::vector<unsigned> cores_;
};

/// Summarizes the rounds that all rows have.
void summarize(const ClassifySweep& sweep, ClassifyRow& row, std::span<const RunSample> samples) {
  const auto over = [&](auto of) {
    std::vector<double> values;
    for (const RunSample& sample : samples) values.push_back(of(sample));
    return estimate(std::move(values));
  };
  const auto of_member = [&](auto member) {
    return over([member](const RunSample& sample) { return sample.*member; });
  };
  const auto total = [](const std::array<double, kModules>& parts) {
    return std::accumulate(parts.begin(), parts.end(), 0.0);
  };
  row.offered_mpps = of_member(&RunSample::offered_mpps);
  row.sniffed_mpps = of_member(&RunSample::sniffed_mpps);
  row.handled_mpps = of_member(&RunSample::handled_mpps);
  row.classified_mpps = of_member(&RunSample::classified_mpps);
  row.classified_kfps = of_member(&RunSample::classified_kfps);
  row.told_share = of_member(&RunSample::told_share).median;
  row.lost_share = of_member(&RunSample::lost_share);
  for (std::size_t module = 0; module < kModules; ++module) {
    row.cpu_share[module] = over([=](const RunSample& sample) { return sample.cpu_share[module]; });
    row.cpu_ns[module] = over([=](const RunSample& sample) { return sample.cpu_ns[module]; });
  }
  row.cpu_share_of_all = over([&](const RunSample& sample) { return total(sample.cpu_share); });
  row.cpu_ns_of_all = over([&](const RunSample& sample) { return total(sample.cpu_ns); });
  std::uint64_t offered = 0, missed = 0, ring_full = 0;
  for (const RunSample& sample : samples) {
    offered += sample.offered, missed += sample.missed, ring_full += sample.ring_full;
    row.refused_jobs += sample.refused;
    row.resident_bytes = std::max(row.resident_bytes, sample.resident_bytes);
  }
  row.missed_share = share_of(missed, offered);
  row.ring_full_share = share_of(ring_full, offered);
  row.thread_cpu = samples.back().thread_cpu;
  row.samples = samples.size();
  if (!sweep.find_rate) return;
  const auto interfaces = static_cast<double>(row.shape->interfaces);
  row.lossless_mpps = over([&](const RunSample& sample) { return sample.load * sweep.traffic->mpps() * interfaces; });
  row.lossless_gbps = over([&](const RunSample& sample) { return sample.load * sweep.traffic->gbps() * interfaces; });
  row.lossless_load = samples.back().load;
}

std::optional<Error> enough_memory(std::span<const ClassifyRow> rows) {
  const std::uint64_t needed = std::ranges::max_element(rows, {}, &ClassifyRow::memory_bytes)->memory_bytes;
  const std::size_t available = available_bytes();
  if (needed <= available) return std::nullopt;
  return Error{fmt::format("the tables need {} MB, but {} MB are available: give fewer with --flows", needed >> 20,
                           available >> 20)};
}

/// Measures all rows; returns nothing if `stop` returned true before the first round was done.
Result<std::vector<ClassifyRow>> measure(const ClassifySweep& sweep, const std::function<bool()>& stop) {
  Classifying classifying(sweep);
  std::vector<ClassifyRow> rows = classifying.rows();
  if (auto error = enough_memory(rows)) return *std::move(error);
  std::vector<std::vector<RunSample>> samples(rows.size());
  std::vector<double> guesses(rows.size());
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0u);
  SplitMix64 random(sweep.seed);
  for (int round = 0; round < sweep.rounds && !stop(); ++round) {
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t r : order) {
      auto sample = classifying.measure(rows[r], guesses[r], stop);
      if (!sample) return sample.error();
      if (*sample) samples[r].push_back(**std::move(sample));
    }
  }
  const std::size_t done = std::ranges::min_element(samples, {}, &std::vector<RunSample>::size)->size();
  if (done == 0) return std::vector<ClassifyRow>();
  for (std::size_t r = 0; r < rows.size(); ++r) summarize(sweep, rows[r], std::span(samples[r]).first(done));
  return rows;
}

}  // namespace

std::string name_of(const ClassifyRow& row) {
  return row.placement == Placement::chain
             ? std::string(row.shape->name)
             : fmt::format("{}, {}", row.shape->name, kPlacementNames[static_cast<std::size_t>(row.placement)]);
}

Result<std::size_t> measure_classifying(const ClassifySweep& sweep,
                                        const std::function<void(std::span<const ClassifyRow>)>& done,
                                        const std::function<bool()>& stop) {
  std::size_t measured = 0;
  for (const std::uint32_t cap : sweep.caps) {
    if (stop()) break;
    sweep.traffic->cap_frames(cap);
    const auto rows = measure(sweep, stop);
    if (!rows) return rows.error();
    if (rows->empty()) break;
    done(*rows);
    ++measured;
  }
  return measured;
}

}  // namespace parshall::lab
