// SPDX-License-Identifier: Apache-2.0
#include "monitor/watch_options.hpp"

#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "base/machine.hpp"
#include "base/parse.hpp"
#include "classify/model_file.hpp"
#include "cli/messages.hpp"
#include "engine/thread_models.hpp"
#include "generate/traffic.hpp"
#include "monitor/marks.hpp"
#include "pipeline/flow/hashes/registry.hpp"
#include "pipeline/output/sink.hpp"

namespace parshall::cli {
namespace {

constexpr std::size_t kMaxWorkers = 256, kMaxBatch = 4096;
constexpr std::uint32_t kFloodFilterBytes = 128;  ///< where flows may give way
constexpr std::uint64_t kSpoolBytes = std::uint64_t{1} << 30;

template <class T>
struct Named {
  const char* name;
  T value;
};
constexpr Named<KeyFields> kKeys[] = {{"5tuple", KeyFields::five_tuple},
                                      {"src-dst", KeyFields::src_dst},
                                      {"src", KeyFields::src},
                                      {"dst", KeyFields::dst}};
constexpr Named<Identity> kIdentities[] = {
    {"exact", Identity::exact}, {"fingerprint", Identity::fingerprint}, {"nic-hash", Identity::nic_hash}};
constexpr Named<Scheduler> kSchedulers[] = {
    {"other", Scheduler::other}, {"fifo", Scheduler::fifo}, {"deadline", Scheduler::deadline}};
constexpr Named<QuantileMethod> kQuantiles[] = {{"histogram", QuantileMethod::histogram}, {"p2", QuantileMethod::p2}};

template <class T, std::size_t N>
Check names_of(const Named<T> (&table)[N]) {
  std::vector<std::string> names;
  for (const auto& entry : table) names.emplace_back(entry.name);
  return among(names);
}

template <class T, std::size_t N>
T value_of(const Named<T> (&table)[N], const std::string& name) {
  return std::ranges::find_if(table, [&](const auto& entry) { return name == entry.name; })->value;
}

std::vector<std::string> thread_model_names() {
  std::vector<std::string> names;
  for (const ThreadModelEntry& entry : thread_models()) names.emplace_back(entry.name);
  return names;
}
bool names_thread_model(const std::string& name) { return among(thread_model_names()).passes(name); }

/// For the error of a choice that is not there.
std::string where_else(std::string_view topic) {
  return class_helpers_maker() != nullptr
             ? ""
             : fmt::format("; parshall-lab watch has others (parshall-lab list {})", topic);
}

Result<std::uint64_t> duration(const char* option, const std::string& text) {
  if (const auto value = parse_duration_ns(text)) return *value;
  return Error{fmt::format("{} {}: give a time such as 500ms, 10s, 2m or 1h", option, text)};
}

Result<std::uint64_t> count(const char* option, const std::string& text, std::uint64_t least, std::uint64_t most) {
  const auto value = parse_count(text);
  if (value && *value >= least && *value <= most) return *value;
  return Error{fmt::format("{} {}: give a number from {} to {}, such as 65536, 64Ki or 1M", option, text, least, most)};
}

/// Whether nobody will ever read what is written there.
bool is_null_device(const std::string& path) {
  struct stat there {};
  const int found = path == "-" ? ::fstat(STDOUT_FILENO, &there) : ::stat(path.c_str(), &there);
  return found == 0 && S_ISCHR(there.st_mode) && there.st_rdev == makedev(1, 3);
}

std::uint64_t random_seed() {
  std::uint64_t seed = 0;
  if (::getrandom(&seed, sizeof seed, 0) != sizeof seed) seed = static_cast<std::uint64_t>(__builtin_ia32_rdtsc());
  return seed;
}

}  // namespace

void declare(Command command, WatchOptions& o) {
  command.add_option("-r,--read", o.file, "Capture file (pcap, pcapng, ERF, also compressed), - for standard input")
      ->group("Source");
  command.add_option("-i,--interface", o.interface, "Kernel interface, PCI address, or vdev:NAME,ARGS")
      ->group("Source");
  command
      .add_option(
          "-g,--generate", o.traffic,
          fmt::format("Built-in traffic: NAME=VALUE,... of {} (parshall list traffic)", names_of_traffic_settings()))
      ->group("Source");
  command.add_option("filter,--filter", o.filter, "Packet filter in libpcap's language")->group("Source");
  command.add_option("--via", o.via, "How to read a kernel interface")
      ->check(among({"af_packet", "af_xdp"}))
      ->capture_default_str()
      ->group("Source");
  auto forward =
      command
          .add_option(
              "--forward", o.forward,
              "Be a wire: what comes in on -i goes out of this device, and the other way round, marked with the "
              "DSCP of its flow's class (--model FILE); --workers and --queues are of each direction")
          ->group("Source");
  command
      .add_option("--dscp", o.marks,
                  "CLASS=CODE,... for --forward: AF21, EF, CS1, ... or 0 to 63; others stay as they are, unknown is a "
                  "class too (default: 3, 7, 11, ... in the order of the classes)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->needs(forward)
      ->group("Source");
  command.add_option("--queues", o.queues, "Receive queues (default: one per worker)")->group("Source");
  command.add_option("--descriptors", o.descriptors, "Packets that a receive queue holds")
      ->capture_default_str()
      ->group("Source");
  command.add_option("--mbufs", o.mbufs, "Packet buffers per receive queue of a DPDK device (default: derived)")
      ->group("Source");
  command.add_option("--batch", o.batch, "Packets asked of the source at a time")
      ->capture_default_str()
      ->check(in_range(std::size_t{1}, kMaxBatch))
      ->group("Source");
  command.add_option("--eal", o.eal, "More DPDK EAL arguments, in one string")->group("Source");
  command.add_option("--count", o.count, "Stop after so many packets")->group("Source");
  command.add_option("--duration", o.duration, "Stop after this time: of packet time with -r, of the clock otherwise")
      ->group("Source");

  command.add_flag("--inner", o.inner, "Count tunnelled packets under their innermost IP header")->group("Flows");
  command.add_option("--key", o.key, "Fields that make a flow")
      ->check(names_of(kKeys))
      ->capture_default_str()
      ->group("Flows");
  command.add_option("--identity", o.identity, "What tells flows apart; the last two may merge flows")
      ->check(names_of(kIdentities))
      ->capture_default_str()
      ->group("Flows");
  command.add_option("--hash", o.hash, "Hash of the key (parshall list hashes; default: aes)")->group("Flows");
  command.add_flag("--observe-merges", o.observe_merges, "Count the flows that a lossy identity merged (slower)")
      ->group("Flows");
  command.add_option("--table", o.table, "Flow table (parshall list tables)")->capture_default_str()->group("Flows");
  command.add_option("--flows", o.flows, "Table capacity per worker, in flows")->capture_default_str()->group("Flows");
  command
      .add_option("--flood-filter", o.flood_filter,
                  "While new flows take most of the time, keep each out of the table until it has shown so many bytes "
                  "on the wire; 0: never (default: 128 where flows may give way, else 0)")
      ->check(in_range(std::int64_t{0}, std::int64_t{FloodFilter::kMostBytes}))
      ->group("Flows");
  command.add_option("--idle", o.idle, "End a flow's record after this time without a packet")->group("Flows");
  command.add_option("--active", o.active, "End a flow's record when it has lasted this long")->group("Flows");
  command.add_flag("--packets-only", o.packets_only, "Packet level: device and software counters, no flows")
      ->group("Flows");
  command.add_option("--seed", o.seed, "Seed of the keyed hash (default: random; keep it secret)")->group("Flows");

  command.add_option("--stats", o.statistics, "More columns: gap_mean,iat_p99,rate,... (parshall list statistics)")
      ->delimiter(',')
      ->group("Report");
  command.add_option("--quantiles", o.quantiles, "How percentiles are kept")
      ->check(names_of(kQuantiles))
      ->capture_default_str()
      ->group("Report");
  command.add_option("--quantile-error", o.quantile_error, "Relative error of histogram percentiles")
      ->capture_default_str()
      ->check(in_range(0.0001, 0.49))
      ->group("Report");
  command.add_option("--tasks", o.tasks, "Tasks with their defaults: heavy-hitters,entropy,... (parshall list tasks)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group("Tasks");
  command
      .add_option("--task", o.task_specs,
                  "A task: NAME:PARAMETER=VALUE,..., or a condition, NAME=CONDITION or NAME:PARAMETER=VALUE:CONDITION")
      ->allow_extra_args(false)
      ->group("Tasks");
  command
      .add_option("--states", o.states,
                  "TOML file of monitoring states: named sets of tasks, and the rules that assign flows to them")
      ->group("Tasks");
  command
      .add_option("--profile", o.profile,
                  "What packets cost in these states on this machine (parshall profile --states; default: a guess); "
                  "either is corrected as packets come")
      ->group("Tasks");
  auto no_adapt =
      command.add_flag("--no-adapt", o.no_adapt, "Flows keep their states, though packets be lost")->group("Tasks");
  auto adapt_only =
      command
          .add_flag("--adapt-only", o.adapt_only,
                    "Flows give way to lighter states so that no packet is lost, whatever tasks then miss")
          ->excludes(no_adapt)
          ->group("Tasks");
  command
      .add_option("--accuracy", o.accuracy,
                  "Recall that tasks should keep where flows give way, each from 0 to 1 (its own: recall=)")
      ->check(in_range(0.0, 1.0))
      ->capture_default_str()
      ->excludes(no_adapt)
      ->excludes(adapt_only)
      ->group("Tasks");
  command
      .add_flag(
          "--no-shed", o.no_shed,
          "Lose packets where even the lightest states take too long (default: look at one connection in so many, "
          "and scale what tasks say)")
      ->group("Tasks");
  command.add_option("--window", o.window, "Length of the tasks' windows: a time, or packets such as 2Mp")
      ->capture_default_str()
      ->group("Tasks");
  command.add_option("--task-keys", o.task_keys, "Keys that a task counts exactly in a window")
      ->capture_default_str()
      ->group("Tasks");
  command.add_option("--events", o.events, "File for what tasks find, a JSON object a line; - is standard output")
      ->group("Tasks");
  command
      .add_option(
          "--recall", o.recall,
          "CSV file for how much of it they found, by estimate, where flows give way: a line for each window and "
          "task; - is standard output")
      ->group("Tasks");

  auto hook =
      command
          .add_option(
              "--hook", o.hook,
              "Command for the shell to run for an event, which is in PARSHALL_EVENT as JSON (PARSHALL_TASK: its task)")
          ->group("Tasks");
  command
      .add_option("--hook-every", o.hook_every,
                  "The least time from one run to the next; PARSHALL_LEFT_OUT: events since")
      ->capture_default_str()
      ->needs(hook)
      ->group("Tasks");

  std::vector<std::string> formats;
  for (const SinkEntry& sink : sink_registry()) formats.emplace_back(sink.name);
  command.add_option("--format", o.format, "text, csv or json")
      ->check(among(formats))
      ->capture_default_str()
      ->group("Report");
  command.add_option("-o,--output", o.output, "File for the report")->capture_default_str()->group("Report");
  command
      .add_option("--every", o.every,
                  "A report each time this has passed, and one at the end: packet time with -r, the clock otherwise")
      ->group("Report");
  command
      .add_option(
          "--spool", o.spool,
          "Bytes that records of ended flows may take, most of them in TMPDIR, until a report has them; more are "
          "counted and dropped (default: 1Gi, with -r without bound)")
      ->group("Report");
  command.add_flag("--live", o.live, "Terminal user interface")->group("Report");
  command.add_option("--top", o.top, "Flows to show; 0 is all (default: 20 in text, else all)")
      ->check(non_negative())
      ->group("Report");
  command.add_option("--sort", o.sort, "Column to sort by, largest first (default in text: packets)")->group("Report");
  command.add_flag("--explain", o.explain, "In each report, where the time of workers and tasks goes, per packet")
      ->group("Report");
  command.add_flag("-q,--quiet", o.quiet, "No messages but errors")->group("Report");

  command.add_option("--workers", o.workers, "Worker threads, each with a table of its own")
      ->capture_default_str()
      ->check(in_range(std::size_t{1}, kMaxWorkers))
      ->group("Threads");
  command
      .add_option(
          "--threads", o.threads,
          "What a worker is: run-to-completion (one thread does everything) or pipeline (a shared receive thread "
          "in front); parshall-lab watch has cooperative, too (both stages in turns on one)")
      ->check(among(thread_model_names()))
      ->capture_default_str()
      ->group("Threads");
  command
      .add_option(
          "--model",
          [&o](const std::vector<std::string>& models) {
            for (const std::string& model : models) {
              (names_thread_model(model) ? o.threads : o.model) = model;
              if (names_thread_model(model) && !o.quiet)
                say(o.command, fmt::format("--model {0} is called --threads {0} now", model));
            }
          },
          "File of parshall train: tell the class of each flow by it")
      ->allow_extra_args(false)
      ->group("Flows");
  if (class_helpers_maker() != nullptr)
    command
        .add_option(
            "--classifiers", o.classifiers,
            "Threads that tell the classes of flows; 0: each worker does, which is faster with the models of train")
        ->capture_default_str()
        ->check(in_range(std::size_t{0}, kMaxWorkers))
        ->group("Threads");
  command.add_option("--ring", o.ring, "Packets between receive and monitor thread")
      ->capture_default_str()
      ->check(in_range(std::size_t{1} << 12, std::size_t{1} << 24))
      ->group("Threads");
  command.add_option("--cores", o.cores, "Cores to pin the threads to, in turn")->delimiter(',')->group("Threads");
  command.add_option("--scheduler", o.scheduler, "Scheduling class of the workers")
      ->check(names_of(kSchedulers))
      ->capture_default_str()
      ->group("Threads");
  command.add_flag("--busy-poll", o.busy_poll, "Never sleep while waiting for packets")->group("Threads");
  command.fallthrough();  // to --config
  command.footer(
      "--config FILE takes these options from a TOML file, one `name = value` a line; the command line wins.");
}

namespace {

bool input_can_wait(const WatchOptions& o) {
  if (!o.interface.empty()) return false;
  if (o.traffic.empty()) return true;
  const auto traffic = TrafficSpec::parse(o.traffic, TrafficSpec::kAll);
  return traffic && traffic->pace_pps == 0;  // what is wrong with it is said later
}

/// The model that tells classes, whose column is there, asked for or not.
std::optional<Error> plan_classes(const WatchOptions& o, StatisticOptions& options, std::vector<std::string>& names) {
  if (o.model.empty()) {
    if (o.command == "classify") return Error{"name a model that parshall train wrote: --model FILE"};
    if (o.classifiers != 0) return Error{"--classifiers tell classes by a model: name one with --model FILE"};
    return std::nullopt;
  }
  if (o.packets_only) return Error{"--packets-only keeps no flows: leave out --model " + o.model};
  auto model = read_model(o.model);
  if (!model) {
    const bool is_there = std::filesystem::exists(o.model);
    return Error{
        is_there
            ? "--model " + model.error().message
            : fmt::format("--model {}: there is no such file (parshall train writes models; thread models: --threads)",
                          o.model)};
  }
  options.classifier = *std::move(model);
  if (o.classifiers != 0) options.classes_told_by = ToldBy::other_threads;
  if (std::ranges::find(names, FlowClass::kName) == names.end()) names.emplace_back(FlowClass::kName);
  return std::nullopt;
}

/// By one name: a vdev without its arguments, or the interface that it is of; a PCI device without domain 0.
std::string device_of(std::string device) {
  if (const auto iface = device.find("iface="); device.starts_with("vdev:") && iface != std::string::npos)
    return device.substr(iface + 6, device.find(',', iface) - iface - 6);
  if (device.starts_with("vdev:")) return device.substr(0, device.find(','));
  if (device.find(':') == std::string::npos) return device;
  std::ranges::transform(device, device.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return device.starts_with("0000:") ? device.substr(5) : device;
}

/// What goes on, and how it is marked.
std::optional<Error> plan_forwarding(const WatchOptions& o, const Classifier* classifier, SessionOptions& session) {
  if (o.forward.empty()) return std::nullopt;
  const auto problem = [&o](const char* what) { return Error{fmt::format("--forward {}: {}", o.forward, what)}; };
  if (o.interface.empty()) return problem("packets go on from an interface or device: name it with -i");
  if (device_of(o.interface) == device_of(o.forward)) return problem("that is -i itself: name the wire's other end");
  if (o.packets_only) return problem("--packets-only keeps no flows to mark: leave it out");
  if (classifier == nullptr) return problem("name what tells the classes to mark: --model FILE (parshall train)");
  if (o.threads != "run-to-completion")
    return problem("a packet goes on with the worker that took it: leave out --threads pipeline or cooperative");
  if (o.classifiers != 0)
    return problem("a packet goes on with the class that its worker tells: leave out --classifiers");
  if (session.limits.packets != 0) return problem("a wire passes all packets: leave out --count");
  auto plan = plan_marks(o.marks, classifier->classes());
  if (!plan) return plan.error();
  session.threads.marking = *std::move(plan);
  session.workers *= 2;
  return std::nullopt;
}

/// How flows give way to lighter states, where the source cannot wait.
std::optional<Error> plan_control(const WatchOptions& o, const StateFile& file, const TaskSets& tasks,
                                  WatchPlan& plan) {
  const StatePlan& states = *plan.session.monitor.states;
  if (!states.gives_way()) return std::nullopt;
  if (o.threads == "pipeline") {
    // Its rings are the queues that overflow, and who fills them is not who has to do less.
    if (!input_can_wait(o) && !o.no_adapt && !o.quiet)
      say("watch", "with --threads pipeline no flow gives way to a lighter state");
    return std::nullopt;
  }
  ControlPlan control = ControlPlan::guess(states, plan.session.monitor.windows, plan.session.monitor.findings);
  control.controller.mode = o.no_adapt     ? Controller::Mode::none
                            : o.adapt_only ? Controller::Mode::adapt
                                           : Controller::Mode::recover;
  control.controller.sheds = !o.no_shed;
  if (!o.profile.empty()) {
    const auto profile = Profile::read(o.profile);
    if (!profile) return profile.error();
    if (const auto difference = profile->difference_from(identify_machine(o.version, o.table)))
      return Error{fmt::format("--profile {}: {}", o.profile, *difference)};
    if (const auto problem = control.use(*profile, states, file.tasks_of_states()))
      return Error{
          fmt::format("--profile {}: {}; run parshall profile --states {}", o.profile, problem->message, o.states)};
  }
  if (!input_can_wait(o) && !o.no_adapt && o.flood_filter < 0)
    plan.session.monitor.flood_filter_bytes = kFloodFilterBytes;
  control.batch = o.batch;
  control.watch(tasks);
  if (const auto graph = control.graph(states); !graph)
    return Error{fmt::format("--states {}: {}", o.states, graph.error().message)};
  plan.session.monitor.control = std::make_shared<const ControlPlan>(std::move(control));
  return std::nullopt;
}

/// Whether what tasks miss is to be told of every window, and where that cannot be.
std::optional<Error> plan_recall(const WatchOptions& o, const WatchPlan& plan) {
  if (o.recall.empty() && !o.live) return std::nullopt;
  const ControlPlan* const control = plan.session.monitor.control.get();
  std::string problem;
  if (o.states.empty())
    problem = "flows give way to lighter states, and there are none: name some with --states (examples/states)";
  else if (o.threads == "pipeline")
    problem = "with --threads pipeline no flow gives way to a lighter state: leave it out";
  else if (control == nullptr)
    problem = fmt::format("no state of {} says which is lighter: there is none to give way to", o.states);
  else if (input_can_wait(o))
    problem = "flows give way only where the input does not wait: take -i, or -g with pace=PPS";
  else if (control->recalls->size() == 0)
    problem = fmt::format("the tasks of {} only count, and miss no flow that gives way", o.states);
  if (problem.empty())
    control->recalls->windows = std::make_unique<FindingQueue<WindowRecall>>(/*can_wait=*/false);
  else if (!o.recall.empty())
    return Error{"--recall: " + problem};
  return std::nullopt;
}

/// Two of them would write to standard output.
std::optional<Error> output_problem(const WatchOptions& o) {
  std::vector<std::string_view> there;
  if (o.output == "-" || o.live) there.emplace_back("the report");
  if (o.events == "-") there.emplace_back("--events -");
  if (o.recall == "-") there.emplace_back("--recall -");
  if (there.size() < 2) return std::nullopt;
  return Error{fmt::format("{} and {} both go to standard output: give one of them a file", there[1], there[0])};
}

std::optional<Error> plan_tasks(const WatchOptions& o, WatchPlan& plan) {
  if (!o.profile.empty() && o.states.empty())
    return Error{"--profile is of monitoring states: name them with --states"};
  std::optional<StateFile> states;
  if (!o.states.empty()) {
    auto read = StateFile::read(o.states);
    if (!read) return read.error();
    states = *std::move(read);
    plan.tasks = states->tasks;
  }
  for (const auto* const specs : {&o.tasks, &o.task_specs})
    for (const std::string& spec : *specs) plan.tasks.push_back({spec});
  if (plan.tasks.empty()) {
    if (states) return Error{fmt::format("--states {}: no state has a task", o.states)};
    if (!o.hook.empty()) return Error{"--hook: name what to look for with --tasks (parshall list tasks)"};
    if (!o.events.empty()) return Error{"--events: name what to look for with --tasks (parshall list tasks)"};
    return std::nullopt;
  }
  if (o.packets_only) return Error{"--packets-only keeps no flows: leave out --tasks"};
  const auto window = parse_window(o.window);
  if (!window) return Error{"--" + window.error().message};
  const auto keys = count("--task-keys", o.task_keys, 1024, std::uint64_t{1} << 27);
  if (!keys) return keys.error();
  plan.task_options = {
      .window = *window, .fields = plan.session.key, .keys = *keys, .seed = plan.session.seed, .recall = o.accuracy};
  const auto tasks = TaskSets::make(plan.tasks, plan.task_options);
  if (!tasks) return tasks.error();
  const std::size_t state_count = states ? states->plan.names.size() : 1;
  plan.session.monitor.windows = tasks->windows(state_count);
  plan.session.monitor.findings = tasks->findings(state_count);
  if (states) {
    auto made = states->plan_for(*tasks, plan.session.seed);
    if (!made) return Error{fmt::format("--states {}: {}", o.states, made.error().message)};
    plan.session.monitor.states = std::make_shared<const StatePlan>(*std::move(made));
    if (const auto problem = plan_control(o, *states, *tasks, plan)) return *problem;
  }
  const bool several_queues = !o.interface.empty() && (o.workers > 1 || o.queues > 1 || !o.forward.empty());
  const bool by_packets = std::ranges::any_of(
      tasks->windows(), [](const WindowPlan& windows) { return windows.length.unit == WindowLength::Unit::packets; });
  if (by_packets && several_queues)
    return Error{"windows of packets need all packets in one queue: leave out --workers, --queues and --forward"};
  const bool follows_tcp = std::ranges::any_of(plan.session.monitor.findings, &FindingNeeds::tcp);
  if (follows_tcp && several_queues && o.threads != "pipeline")
    return Error{
        "tasks that follow TCP connections need both directions in one worker: leave out --workers, --queues and "
        "--forward, or take --threads pipeline"};
  return std::nullopt;
}

}  // namespace

Result<WatchPlan> plan(const WatchOptions& o) {
  const int sources = !o.file.empty() + !o.interface.empty() + !o.traffic.empty();
  if (sources != 1) return Error{"give one source: -r FILE, -i INTERFACE or -g SPEC (parshall list sources)"};

  WatchPlan plan;
  plan.statistics = {value_of(kQuantiles, o.quantiles), o.quantile_error};
  std::vector<std::string> statistics = o.statistics;
  if (const auto problem = plan_classes(o, plan.statistics, statistics)) return *problem;
  auto schema = Schema::make(statistics, plan.statistics);
  if (!schema) return schema.error();
  plan.schema = *std::move(schema);

  if (const auto problem = sort_problem(plan.schema.columns(), o.sort)) return *problem;
  if (o.packets_only && o.threads != "run-to-completion")
    return Error{"--packets-only counts in one thread per worker: leave out --threads"};

  SessionOptions& session = plan.session;
  session.identity = value_of(kIdentities, o.identity);
  if (!o.hash.empty()) {
    const auto hash = find_hash(o.hash);
    if (!hash) return Error{fmt::format("--hash: {}{}", hash.error().message, where_else("hashes"))};
    if (session.identity == Identity::nic_hash)
      return Error{fmt::format("--identity nic-hash takes the device's hash: leave out --hash {}", o.hash)};
    if (*hash != &default_hash()) session.hash = *hash;
  }
  if (!o.packets_only) {
    const auto table = find_table(o.table, session.identity);
    if (!table) return Error{table.error().message + where_else("tables")};
    session.table = *table;
    const auto flows = count("--flows", o.flows, 1, std::uint64_t{1} << 28);
    if (!flows) return flows.error();
    session.monitor.flows = *flows;
  }
  for (const auto& [option, text, into] : {std::tuple{"--idle", &o.idle, &session.monitor.timeouts.idle_ns},
                                           std::tuple{"--active", &o.active, &session.monitor.timeouts.active_ns},
                                           std::tuple{"--every", &o.every, &plan.every_ns},
                                           std::tuple{"--hook-every", &o.hook_every, &plan.hook_every_ns}}) {
    const auto value = duration(option, *text);
    if (!value) return value.error();
    *into = *value;
  }
  const auto stop_after = duration("--duration", o.duration);
  if (!stop_after) return stop_after.error();
  (o.file.empty() ? plan.wall_duration_ns : session.limits.packet_time_ns) = *stop_after;
  if (!o.file.empty()) session.limits.pause_every_ns = plan.every_ns;
  session.ended_bytes = o.file.empty() ? kSpoolBytes : SpoolLimits::kUnbounded;
  if (!o.spool.empty()) {
    const auto bytes = count("--spool", o.spool, 0, std::uint64_t{1} << 62);
    if (!bytes) return bytes.error();
    session.ended_bytes = *bytes;
  }
  session.keeps_ended = !is_null_device(o.output);
  const auto packets = count("--count", o.count, 0, std::uint64_t{1} << 62);
  if (!packets) return packets.error();
  session.limits.packets = *packets;

  if (!o.filter.empty()) {
    auto filter = BpfFilter::compile(fmt::format("{}", fmt::join(o.filter, " ")));
    if (!filter) return filter.error();
    session.filter = *std::move(filter);
  }
  if (o.seed.empty()) {
    session.seed = random_seed();
  } else {
    const auto seed = parse_count(o.seed);
    if (!seed) return Error{fmt::format("--seed {}: give a whole number", o.seed)};
    session.seed = *seed;
  }
  session.snapshots = plan.every_ns != 0 || o.live;
  if (o.packets_only && o.flood_filter > 0) return Error{"--packets-only keeps no flows: leave out --flood-filter"};
  session.monitor.flood_filter_bytes = static_cast<std::uint32_t>(std::max<std::int64_t>(0, o.flood_filter));
  session.monitor.observe_merges = o.observe_merges;
  session.monitor.explain = o.explain;
  session.key = value_of(kKeys, o.key);
  session.header = o.inner ? IpHeader::innermost : IpHeader::outermost;
  session.workers = o.workers;
  session.classifiers = o.classifiers;
  session.batch = o.batch;
  session.threads = {.model = std::ranges::find(thread_models(), o.threads, &ThreadModelEntry::name)->model,
                     .scheduler = value_of(kSchedulers, o.scheduler),
                     .cores = o.cores,
                     .ring_packets = o.ring,
                     .busy_poll = o.busy_poll};
  if (const auto problem = plan_forwarding(o, plan.statistics.classifier.get(), session)) return *problem;
  if (const auto problem = plan_tasks(o, plan)) return *problem;
  if (const auto problem = plan_recall(o, plan)) return *problem;
  if (const auto problem = output_problem(o)) return *problem;
  const auto sink = std::ranges::find(sink_registry(), o.format, &SinkEntry::name);
  plan.sort = o.sort.empty() ? std::string(sink->default_sort) : o.sort;
  plan.top = o.top >= 0 ? static_cast<std::size_t>(o.top) : sink->default_top;
  return plan;
}

}  // namespace parshall::cli
