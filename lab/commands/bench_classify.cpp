// SPDX-License-Identifier: Apache-2.0
#include <new>

#include "base/parse.hpp"
#include "classify/model_file.hpp"
#include "classify/registry.hpp"
#include "cli/messages.hpp"
#include "lab/classify/class_model.hpp"
#include "lab/classify/report.hpp"
#include "lab/commands/bench_run.hpp"
#include "lab/cores/scheduling.hpp"

namespace parshall::cli {
namespace {

constexpr const char* kWorstCase = "flows=1,dist=trains:5";

struct ClassifyOptions {
  BenchOptions common;
  std::vector<std::string> shapes, placements{"chain"};
  std::string file, traffic = kWorstCase, packets = "4M", queue = "4096", ring = "64Ki", flows = "4Mi", idle = "1s",
                    kind = "naive-bayes", model;
  double mpps = 14.2, seconds = 5;
  std::optional<double> gbps;
  std::vector<std::uint32_t> caps{0};
  bool find_rate = false;
};

Result<std::shared_ptr<const Classifier>> classifier_of(const ClassifyOptions& options) {
  if (!options.model.empty()) {
    auto model = read_model(options.model);
    if (!model) return model.error();
    return std::shared_ptr<const Classifier>(*std::move(model));
  }
  constexpr std::size_t kClasses = 10, kPackets = 4;
  const ModelKind* const kind = find_model_kind(options.kind);
  if (kind == nullptr)
    return Error{fmt::format("no kind of model \"{}\"; there are: {}", options.kind,
                             joined(model_kinds(), [](const ModelKind& one) { return one.name; }))};
  return std::shared_ptr<const Classifier>(kind->train(lab::made_samples(kClasses, kPackets, options.common.seed), {}));
}

/// Returns the sweep without the traffic.
Result<lab::ClassifySweep> plan(const ClassifyOptions& options) {
  constexpr std::size_t kMostFlows = std::size_t{1} << 28, kMostPackets = std::size_t{1} << 24;
  lab::ClassifySweep sweep{.shapes = {},
                           .caps = options.caps,
                           .seconds = options.seconds,
                           .find_rate = options.find_rate,
                           .model = options.model.empty() ? options.kind + ", 10 classes" : options.model,
                           .rounds = options.common.rounds,
                           .seed = options.common.seed};
  const auto shapes = choose(lab::classify_shapes(), options.shapes, "configuration");
  if (!shapes) return shapes.error();
  sweep.shapes = *shapes;
  const auto placements = choose_names<lab::Placement>(lab::kPlacementNames, options.placements, "placement");
  if (!placements) return placements.error();
  sweep.placements = *placements;
  const auto queue = count_of("--queue", options.queue, kMostPackets);
  if (!queue) return queue.error();
  sweep.queue_packets = *queue;
  const auto ring = count_of("--ring", options.ring, kMostPackets);
  if (!ring) return ring.error();
  sweep.ring_packets = *ring;
  const auto flows = count_of("--flows", options.flows, kMostFlows);
  if (!flows) return flows.error();
  sweep.flows = *flows;
  const auto idle_ns = parse_duration_ns(options.idle);
  if (!idle_ns)
    return Error{fmt::format("--idle {}: a time, for example 15s or 500ms; 0s: no flow ends", options.idle)};
  sweep.idle_ns = *idle_ns;
  if (!(options.mpps > 0 && options.mpps <= 1000)) return Error{"--rate: million packets a second, above 0 to 1000"};
  if (options.gbps && !(*options.gbps > 0 && *options.gbps <= 1000)) return Error{"--gbps: above 0 to 1000"};
  if (options.file.empty() && !options.gbps && options.caps != std::vector<std::uint32_t>{0})
    return Error{"--cap: it limits bits of the line, not packets per second: give --gbps, or a capture with -r"};
  const auto table = find_table("bucketed", Identity::exact);
  if (!table) return table.error();
  sweep.table = *table;
  auto classifier = classifier_of(options);
  if (!classifier) return classifier.error();
  sweep.classifier = *std::move(classifier);
  return sweep;
}

Result<lab::ClassifyTraffic> built_in(const ClassifyOptions& options) {
  return lab::ClassifyTraffic::of_trains(options.traffic,
                                         {.mpps = options.gbps ? 0 : options.mpps, .gbps = options.gbps.value_or(10)});
}

Result<lab::ClassifyTraffic> replayed(const ClassifyOptions& options, std::size_t packets) {
  try {
    return lab::ClassifyTraffic::of_file(options.file, packets, options.gbps.value_or(10));
  } catch (const std::bad_alloc&) {
    return Error{
        fmt::format("not enough memory for {} packets of {}: ask for fewer with --packets", packets, options.file)};
  }
}

/// Warns of requests that this machine cannot satisfy.
void warn(const lab::ClassifySweep& sweep) {
  if (!sweep.traffic->warning().empty()) say("bench", sweep.traffic->warning());
  const std::size_t cores = lab::usable_cores().size();
  const auto most = (*std::ranges::max_element(sweep.shapes, {}, &lab::ClassifyShape::threads))->threads();
  if (cores < most) say("bench", fmt::format("up to {} threads run on {} core{}", most, cores, cores == 1 ? "" : "s"));
}

int run_classify(const ClassifyOptions& options) {
  auto sweep = plan(options);
  if (!sweep) return wrong_usage(sweep.error());
  const auto packets = count_of("--packets", options.packets, std::size_t{1} << 26);
  if (!packets) return wrong_usage(packets.error());
  if (options.file.empty())
    if (const auto traffic = built_in(options); !traffic) return wrong_usage(traffic.error());
  const auto measure = [&](const auto& done, const auto& stop) -> Result<std::size_t> {
    auto traffic = options.file.empty() ? built_in(options) : replayed(options, *packets);
    if (!traffic) return traffic.error();
    sweep->traffic = std::make_shared<lab::ClassifyTraffic>(*std::move(traffic));
    warn(*sweep);
    const double source_ns = sweep->traffic->source_ns();
    return lab::measure_classifying(
        *sweep, [&](std::span<const lab::ClassifyRow> rows) { done(lab::classify_part(*sweep, rows, source_ns)); },
        stop);
  };
  return run_experiment(
      {.name = "classify", .columns = lab::classify_columns(), .parts = options.caps.size(), .measure = measure},
      options.common);
}

std::string footer() {
  std::string text =
      "Each queue of each interface has a thread that sniffs (polls and decodes) and, behind a ring, one that\n"
      "handles flows. Each process (P) has a flow table and, behind a ring of jobs, a thread that classifies:\n";
  for (const lab::ClassifyShape& shape : lab::classify_shapes())
    text += fmt::format("  {:<16}{}\n", shape.name, shape.help);
  return text +
         "A lock is a std::mutex. Threads sleep while few packets arrive, so CPU shares show the work they have.\n"
         "The sniffing thread also does the sender's work of making or copying packets, which is measured alone,\n"
         "too. Interfaces and queues play their own flows, all of them new, at a fixed pace: packets that arrive\n"
         "at a full queue are missed. On the line, a frame takes its bytes (at least 60, without FCS) and 24 more\n"
         "for FCS, preamble and gap. Rates are sums over all interfaces, in runs of fixed length in interleaved\n"
         "rounds. Every chain's account must balance. --find-rate searches for the highest rate, up to line rate,\n"
         "with at most 0.1 % loss. At a rate with at most 5 % loss, it takes the better of two runs.\n"
         "handled     packets that were counted in a flow\n"
         "classified  packets of flows that got a class, from a classification thread or, if that was late, from\n"
         "            the thread that read the flow";
}

}  // namespace

void add_bench_classify(Command bench, int& status) {
  Command classify =
      bench.add_subcommand("classify", "Flows classified per second by sniffing, flow and classification threads");
  classify->footer(footer());
  auto o = std::make_shared<ClassifyOptions>();
  o->common.rounds = 5;
  const auto list = [&](const char* name, auto& values, const char* help) {
    return classify->add_option(name, values, help)->delimiter(',');
  };
  list("--shape", o->shapes, "Configurations, of interfaces, queues and processes (all)");
  list("--placement", o->placements, "chain: a core for each queue's threads; any: the kernel's choice")
      ->capture_default_str();
  auto file = classify->add_option("-r,--read", o->file, "Capture file whose headers are replayed, frame after frame");
  auto spec = classify->add_option("-g,--generate", o->traffic, "Built-in traffic made of trains")
                  ->excludes(file)
                  ->capture_default_str();
  classify->add_option("--packets", o->packets, "Largest number of packets of the capture")
      ->excludes(spec)
      ->capture_default_str();
  auto rate =
      classify->add_option("--rate", o->mpps, "Rate of an interface in Mpps")->excludes(file)->capture_default_str();
  classify->add_option("--gbps", o->gbps, "Rate of an interface in Gb/s, instead of --rate (10 for a capture)")
      ->excludes(rate);
  list("--cap", o->caps, "Longer frames count on the line as frames of this size in bytes; 0: no limit")
      ->capture_default_str();
  classify->add_option("--seconds", o->seconds, "Seconds of a run")
      ->check(in_range(0.01, 86400.0))
      ->capture_default_str();
  classify->add_flag("--find-rate", o->find_rate, "Find the highest rate without loss");
  classify->add_option("--queue", o->queue, "Capacity of a device's queue in packets")->capture_default_str();
  classify->add_option("--ring", o->ring, "Capacity of the ring between sniffing and flow handling, in packets")
      ->capture_default_str();
  classify->add_option("--flows", o->flows, "Flows of each flow table")->capture_default_str();
  classify->add_option("--idle", o->idle, "Time without a packet after which a flow ends")->capture_default_str();
  auto model = classify->add_option("--model", o->model, "File of a model from parshall train");
  classify->add_option("--model-kind", o->kind, "Kind of a generated model with ten classes, if no file is given")
      ->excludes(model)
      ->capture_default_str();
  add_bench_options(classify, o->common);
  classify->callback([o, &status] { status = run_classify(*o); });
}

}  // namespace parshall::cli
