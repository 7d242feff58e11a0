// SPDX-License-Identifier: Apache-2.0
#include "lab/tables/experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <new>
#include <numeric>

#include "base/machine.hpp"
#include "base/random.hpp"
#include "lab/cores/company.hpp"
#include "lab/tables/player.hpp"

namespace parshall::lab {
namespace {

constexpr std::size_t kSamplePackets = std::size_t{1} << 18;
constexpr std::size_t kProbedPackets = std::size_t{1} << 16;

std::string name_of(const Combination& of) {
  return fmt::format("{} flows, {}, {} byte keys, {} byte values, {}", of.flows, of.traffic, of.shape.key_bytes,
                     of.shape.value_bytes, kTaskNames[static_cast<std::size_t>(of.shape.task)]);
}

/// One structure, with all results during the rounds.
class Contestant {
 public:
  /// `neighbour` is null if there is none.
  Contestant(const TableUnderTest& table, const Combination& of, const TableSweep& sweep, std::span<const int> cores,
             const CoRunners::Work& neighbour)
      : table_(&table),
        of_(&of),
        sweep_(&sweep),
        tally_{heavy_packets(sweep)},
        candidate_(make(sweep.seed)),
        batches_(of.batch, sweep.offered) {
    std::vector<CoRunners::Work> works;
    for (std::size_t i = 1; i < of.cores; ++i) {
      beside_.push_back(make(sweep.seed + i));
      works.push_back(work_of(*beside_.back(), i));
    }
    if (neighbour) works.push_back(neighbour);
    company_ = std::make_unique<Company>(cores, std::move(works));
  }

  static std::uint64_t heavy_packets(const TableSweep& sweep) noexcept {
    const std::size_t packets = std::min(sweep.epoch_packets, sweep.traffic->packets.size());
    return static_cast<std::uint64_t>(sweep.heavy_share * static_cast<double>(packets));
  }

  /// Gives it the epoch, every flow once and then the rest; returns what is wrong with its answers.
  std::optional<Error> fill(const EpochTruth& truth, std::size_t epoch, std::span<const std::uint32_t> every) {
    const std::span<const std::uint32_t> trace = sweep_->traffic->packets;
    candidate_->run(trace.first(epoch));
    candidate_->drain();
    accuracy_ = truth.judge(*candidate_);
    candidate_->run(every);
    candidate_->run(trace.subspan(epoch));
    candidate_->drain();
    for (const auto& beside : beside_) {
      beside->run(every);
      beside->run(trace);
    }
    rejected_share_ = static_cast<double>(candidate_->rejected()) / static_cast<double>(every.size() + trace.size());
    return check(trace);
  }

  /// Plays packets to it from now on, from a position of its own.
  void enter(std::size_t number, std::size_t of_all) {
    const std::span<const std::uint32_t> trace = sweep_->traffic->packets;
    player_.emplace(trace, trace.size() / of_all * number, of_->batch, *candidate_);
  }

  void run(std::size_t packets) {
    company_->take_part([&] { player_->play(packets); });
  }
  bool disturbed() { return company_->disturbed(); }

  /// Records the costs of single batches.
  void observe() {
    constexpr std::size_t kPackets = kSamplePackets / 2;
    company_->beside(
        [this] { batches_.measure(kPackets, [this](std::size_t most) { return player_->play_batch(most); }); });
  }

  TableRow row(const Cost& cost) {
    const std::span<const std::uint32_t> trace = sweep_->traffic->packets;
    return {.table = table_,
            .of = *of_,
            .cost = cost,
            .batches = batches_.figures(),
            .memory_bytes = table_->memory_bytes(of_->entries(), of_->shape),
            .size = candidate_->size(),
            .places = candidate_->places(),
            .rejected_share = rejected_share_,
            .mean_probes = candidate_->mean_probes(trace.first(std::min(kProbedPackets, trace.size()))),
            .accuracy = accuracy_};
  }

 private:
  std::unique_ptr<Candidate> make(std::uint64_t seed) const {
    return table_->make(of_->entries(), of_->shape, seed, tally_);
  }

  CoRunners::Work work_of(Candidate& candidate, std::size_t number) const {
    constexpr std::size_t kPackets = 4096;
    const std::span<const std::uint32_t> trace = sweep_->traffic->packets;
    return [player = Player(trace, trace.size() / (2 * of_->cores) * number, of_->batch, candidate)]() mutable {
      player.play(kPackets);
    };
  }

  /// Checks the counts after every flow had one packet and the trace was played once.
  std::optional<Error> check(std::span<const std::uint32_t> trace) const {
    if (!table_->whole_keys) return std::nullopt;
    std::vector<std::uint64_t> truth(of_->flows, 1), counts(of_->flows);
    for (const std::uint32_t flow : trace) ++truth[flow];
    candidate_->counts(counts);
    std::uint64_t counted = 0;
    for (std::size_t flow = 0; flow < of_->flows; ++flow) {
      counted += counts[flow];
      if (counts[flow] != truth[flow] && (counts[flow] > truth[flow] || candidate_->rejected() == 0))
        return Error{fmt::format("{} counted {} of {} packets of flow {} ({})", table_->name, counts[flow], truth[flow],
                                 flow, name_of(*of_))};
    }
    if (counted + candidate_->rejected() != of_->flows + trace.size())
      return Error{fmt::format("{} counted {} packets and rejected {} of {} ({})", table_->name, counted,
                               candidate_->rejected(), of_->flows + trace.size(), name_of(*of_))};
    return std::nullopt;
  }

  const TableUnderTest* table_;
  const Combination* of_;
  const TableSweep* sweep_;
  TaskTally tally_;
  std::unique_ptr<Candidate> candidate_;
  std::vector<std::unique_ptr<Candidate>> beside_;
  std::unique_ptr<Company> company_;  // ends before what it runs
  std::optional<Player> player_;
  Accuracy accuracy_;
  double rejected_share_ = 0;
  BatchRounds batches_;
};

std::optional<Error> enough_memory(const TableSweep& sweep, const Combination& of) {
  std::size_t needed = of.flows * (sizeof(std::uint32_t) + 4 * sizeof(std::uint64_t));  // order, truths, counts
  if (of.shape.task == Task::superspreader) needed += sweep.epoch_packets * 2 * sizeof(std::uint64_t);
  for (const TableUnderTest* table : sweep.tables)
    if (table->does(of.shape.task)) needed += of.cores * table->memory_bytes(of.entries(), of.shape);
  const std::size_t available = available_bytes();
  if (needed <= available) return std::nullopt;
  return Error{fmt::format("{} MB may be needed for {}, but {} MB are available: name fewer tables, or fewer flows",
                           needed >> 20, name_of(of), available >> 20)};
}

/// Returns every flow once, in an order independent of popularity.
std::vector<std::uint32_t> every_flow(const Combination& of, std::uint64_t seed) {
  std::vector<std::uint32_t> every(of.flows);
  std::iota(every.begin(), every.end(), 0u);
  std::shuffle(every.begin(), every.end(), SplitMix64(~seed));
  return every;
}

Result<std::vector<TableRow>> measure(const TableSweep& sweep, const Combination& of,
                                      const std::function<bool()>& stop) {
  if (auto error = enough_memory(sweep, of)) return *std::move(error);
  const OnPages pages(of.pages);
  if (auto error = pages.refused()) return *std::move(error);
  const OnOneCore pinned;
  const std::size_t others = of.cores - 1 + (of.beside != "none");
  if (others > pinned.others().size())
    return Error{
        fmt::format("{} cores are needed, but this process may use {}", others + 1, pinned.others().size() + 1)};
  const std::vector<std::uint32_t>& trace = sweep.traffic->packets;
  const std::size_t epoch = std::min(sweep.epoch_packets, trace.size());
  const EpochTruth truth({.task = of.shape.task,
                          .flows = of.flows,
                          .packets = std::span(trace).first(epoch),
                          .threshold = Contestant::heavy_packets(sweep)});
  const std::vector<std::uint32_t> every = every_flow(of, sweep.seed);
  const auto beside = std::ranges::find(neighbours(), of.beside, &Neighbour::name);
  const CoRunners::Work neighbour = beside->make == nullptr ? nullptr : beside->make();
  std::vector<std::unique_ptr<Contestant>> contestants;
  std::vector<Variant> variants;
  for (const TableUnderTest* table : sweep.tables) {
    if (stop()) return std::vector<TableRow>();
    if (!table->does(of.shape.task)) continue;
    Contestant& contestant =
        *contestants.emplace_back(std::make_unique<Contestant>(*table, of, sweep, pinned.others(), neighbour));
    if (auto error = contestant.fill(truth, epoch, every)) return *std::move(error);
    contestant.enter(variants.size(), sweep.tables.size());
    variants.push_back({.name = std::string(table->name),
                        .run = [&](std::size_t packets) { contestant.run(packets); },
                        .observe = [&] { contestant.observe(); },
                        .disturbed = [&] { return contestant.disturbed(); }});
  }
  if (variants.empty())
    return Error{fmt::format("none of the tables can do it: {}", kTaskNames[static_cast<std::size_t>(of.shape.task)])};
  const std::size_t sample = std::min(kSamplePackets, trace.size());
  const std::vector<Cost> costs = Harness(sample, sweep.rounds, std::min(2 * of.flows, sample)).measure(variants, stop);
  std::vector<TableRow> rows;
  for (std::size_t i = 0; i < costs.size(); ++i) rows.push_back(contestants[i]->row(costs[i]));
  return rows;
}

/// Returns all combinations of a sweep's parameters except the traffic.
std::vector<Combination> combinations_of(const TableSweep& sweep, const Traffic& traffic) {
  std::vector<Combination> all;
  for (const std::size_t key_bytes : sweep.key_bytes)
    for (const std::size_t value_bytes : sweep.value_bytes)
      for (const Task task : sweep.tasks)
        for (const double load : sweep.load)
          for (const std::size_t cores : sweep.cores)
            for (const Neighbour* beside : sweep.beside)
              for (const std::size_t batch : sweep.batch)
                for (const Pages pages : sweep.pages)
                  all.push_back({.traffic = traffic.name,
                                 .flows = traffic.flows,
                                 .zipf = traffic.zipf,
                                 .shape = {key_bytes, value_bytes, task, traffic.flows},
                                 .load = load,
                                 .cores = cores,
                                 .beside = beside->name,
                                 .batch = batch,
                                 .pages = pages});
  return all;
}

/// Measures all combinations of one traffic; returns how many were passed on.
Result<std::size_t> measure_all(const TableSweep& sweep, const std::function<void(std::span<const TableRow>)>& done,
                                const std::function<bool()>& stop) {
  std::size_t measured = 0;
  for (const Combination& of : combinations_of(sweep, *sweep.traffic)) {
    if (stop()) break;
    try {
      const auto rows = measure(sweep, of, stop);
      if (!rows) return rows.error();
      if (rows->empty()) break;
      done(*rows);
    } catch (const std::bad_alloc&) {
      return Error{fmt::format("no memory for {}: name fewer tables, or fewer flows", name_of(of))};
    }
    ++measured;
  }
  return measured;
}

}  // namespace

std::size_t Combination::entries() const noexcept {
  return std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(static_cast<double>(flows) / load)));
}

std::size_t combinations(const TableSweep& sweep) noexcept {
  return (sweep.traffic ? 1 : sweep.flows.size() * sweep.zipf.size()) * sweep.key_bytes.size() *
         sweep.value_bytes.size() * sweep.tasks.size() * sweep.load.size() * sweep.cores.size() * sweep.beside.size() *
         sweep.batch.size() * sweep.pages.size();
}

Result<std::size_t> measure_tables(const TableSweep& sweep, const std::function<void(std::span<const TableRow>)>& done,
                                   const std::function<bool()>& stop) {
  if (sweep.traffic) return measure_all(sweep, done, stop);
  std::size_t measured = 0;
  TableSweep of_traffic = sweep;
  for (const std::size_t flows : sweep.flows)
    for (const double zipf : sweep.zipf) {
      if (stop()) return measured;
      if (sweep.trace_packets * sizeof(std::uint32_t) > available_bytes())
        return Error{fmt::format("no memory for {} packets: give a smaller --epoch", sweep.trace_packets)};
      of_traffic.traffic = random_traffic(flows, zipf, sweep.trace_packets, sweep.seed);
      const auto more = measure_all(of_traffic, done, stop);
      if (!more) return more.error();
      measured += *more;
    }
  return measured;
}

}  // namespace parshall::lab
