// SPDX-License-Identifier: Apache-2.0
#include "parshall/wiring.hpp"

#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "base/clock.hpp"
#include "base/text_file.hpp"
#include "engine/class_helpers.hpp"
#include "engine/thread_models.hpp"
#include "parshall/marks.hpp"
#include "parshall/sources/source_kind.hpp"
#include "parshall/wire_labels.hpp"
#include "parshall/wire_model.hpp"
#include "parshall/wire_outputs.hpp"
#include "parshall/wire_source.hpp"
#include "parshall/wire_tasks.hpp"
#include "pipeline/flow/hashes/registry.hpp"

namespace parshall {
namespace {

std::uint64_t random_seed() {
  std::uint64_t seed = 0;
  if (::getrandom(&seed, sizeof seed, 0) != sizeof seed) seed = static_cast<std::uint64_t>(cpu_ticks());
  return seed;
}

std::optional<Error> wire_flows(const FlowPlan& flows, SessionOptions& session) {
  session.header = flows.header;
  session.key = flows.key;
  session.identity = flows.identity;
  if (!flows.hash.empty()) {
    const auto hash = find_hash(flows.hash);
    if (!hash) return Error{"--hash: " + hash.error().message};
    if (session.identity == Identity::nic_hash)
      return Error{fmt::format("--identity nic-hash takes the device's hash: leave out --hash {}", flows.hash)};
    if (*hash != &default_hash()) session.hash = *hash;
  }
  if (!flows.packets_only) {
    const auto table = find_table(flows.table, session.identity);
    if (!table) return table.error();
    session.table = *table;
    session.stage.flows = flows.flows != 0 ? flows.flows : FlowPlan::kUsual;
  }
  if (flows.packets_only && flows.flood_filter_bytes.value_or(0) != 0)
    return Error{"--packets-only keeps no flows: leave out --flood-filter"};
  session.stage.flood_filter_bytes = flows.flood_filter_bytes.value_or(0);
  if (flows.linger_ns != 0 && flows.idle_ns != 0 && flows.linger_ns >= flows.idle_ns)
    return Error{"--linger ends closed flows before --idle would: give a shorter time than that, or leave it out"};
  session.stage.timeouts = {.idle_ns = flows.idle_ns, .active_ns = flows.active_ns, .linger_ns = flows.linger_ns};
  session.stage.observe_merges = flows.observe_merges;
  session.classifiers = flows.classifiers;
  return std::nullopt;
}

std::optional<Error> cores_problem(const ThreadsPlan& threads) {
  const long cores = ::sysconf(_SC_NPROCESSORS_CONF);
  for (const unsigned core : threads.cores)
    if (cores > 0 && core >= static_cast<unsigned long>(cores))
      return Error{fmt::format("--cores {}: this machine has cores 0 to {}", core, cores - 1)};
  return std::nullopt;
}

std::optional<Error> nic_hash_problem(const Plan& plan) {
  const SourceKind& kind = kind_of(plan.source);
  if (plan.flows.identity != Identity::nic_hash || kind.has_nic_hashes) return std::nullopt;
  return Error{
      fmt::format("--identity nic-hash takes a device that DPDK reads, such as a card by its PCI address: {} has "
                  "no hashes; --identity fingerprint computes them",
                  kind.described_as.empty() ? kind.name_in(plan.source) : kind.described_as)};
}

/// Rejects the column community_id unless flows have their whole 5-tuple, which the id is computed from.
std::optional<Error> community_id_problem(const FlowPlan& flows, const Schema& schema) {
  if (flows.key == KeyFields::five_tuple || !schema.has("community_id")) return std::nullopt;
  return Error{"community_id is of flows by their 5-tuple: leave out --key"};
}

/// Rejects names of flows where there are no flows by their 5-tuple, or where their packets are gone.
std::optional<Error> names_problem(const FlowPlan& flows, ThreadModel model, const Schema& schema) {
  if (!schema.statistics()->reads_packets()) return std::nullopt;
  const auto* const name =
      std::ranges::find_if(kNameColumnNames, [&](std::string_view each) { return schema.has(each); });
  const auto payload = std::ranges::find(schema.columns(), kOctets, &ColumnInfo::type);
  const std::string_view column = name != std::end(kNameColumnNames)  ? *name
                                  : payload != schema.columns().end() ? std::string_view(payload->name)
                                                                      : "application";
  const auto problem = [&](std::string_view what) { return Error{fmt::format("{} {}", column, what)}; };
  if (flows.key != KeyFields::five_tuple) return problem("needs flows by their whole key: leave out --key");
  if (model != ThreadModel::run_to_completion)
    return problem("is read where packets are received: leave out --threads");
  return std::nullopt;
}

/// Reads the file of host names, from the texts that are held or from the disk.
Result<HostNames> read_hosts(const std::string& file, const std::string& held) {
  constexpr std::size_t kMostBytes = std::size_t{64} << 20;
  auto text = held.empty() ? read_text_file(file, kMostBytes) : Result<std::string>(held);
  if (!text) return Error{fmt::format("--hosts {}", text.error().message)};
  return HostNames::parse(*text, file);
}

/// Returns the names of addresses, null if the plan has none; with --resolve, the session learns them.
Result<std::shared_ptr<const HostNames>> wire_hosts(const Plan& plan, const Held& held, SessionOptions& session) {
  const RowsPlan& rows = plan.rows;
  if (plan.flows.packets_only && (rows.resolve || !rows.geo.empty()))
    return Error{
        fmt::format("--{} is of flows: leave out --packets-only, which keeps none", rows.resolve ? "resolve" : "geo")};
  if (rows.hosts.empty() && !rows.resolve && rows.geo.empty()) return std::shared_ptr<const HostNames>();
  auto names = plan.rows.hosts.empty() ? Result<HostNames>(HostNames()) : read_hosts(plan.rows.hosts, held.texts.hosts);
  if (!names) return names.error();
  if (plan.rows.resolve) {
    if (!plan.source.file.empty() && plan.threads.workers > 1)
      return Error{
          "--resolve of a capture takes one worker, so that answers come before the flows: leave out --workers"};
    session.stage.address_names = std::make_shared<AddressNames>();
    names->add_seen(session.stage.address_names);
  }
  if (!rows.geo.empty()) {
    auto places = held.places ? *held.places : Places::open(rows.geo);
    if (!places) return places.error();
    names->add_places(*std::move(places));
  }
  return std::make_shared<const HostNames>(*std::move(names));
}

/// Adds a list of columns to `columns`. Returns whether the list is complete by itself or adds to others.
ColumnList take_columns(std::span<const std::string> list, std::vector<std::string>& columns) {
  const bool adds = list.empty() || list.front().starts_with('+');
  for (const std::string& name : list) columns.push_back(name.starts_with('+') ? name.substr(1) : name);
  return adds ? ColumnList::more : ColumnList::whole;
}

/// Sets up biflows. Error: a worker cannot receive both directions of a flow.
std::optional<Error> wire_biflow(const Plan& plan, ColumnList list, Wiring& wiring) {
  const FlowPlan& flows = plan.flows;
  if (!flows.biflow) return std::nullopt;
  if (flows.packets_only) return Error{"--packets-only keeps no flows: leave out --biflow"};
  if (flows.key != KeyFields::five_tuple && flows.key != KeyFields::src_dst)
    return Error{"--biflow: a flow of one address has no other direction: leave out --key, or give --key src-dst"};
  if (flows.identity == Identity::nic_hash)
    return Error{"--biflow: a device hashes the two directions of a flow differently: leave out --identity nic-hash"};
  if (!plan.source.forward.empty())
    return Error{"--biflow: with --forward each direction has a worker of its own: leave out one of them"};
  wiring.session.stage.biflow = true;
  const std::vector<std::string>& columns = plan.statistics.columns;
  const bool has_all = std::ranges::find(columns, "all") != columns.end();
  if (list == ColumnList::more || has_all) wiring.schema.add_reverse();
  return std::nullopt;
}

std::optional<Error> rows_problem(const Plan& plan, const Grouping* grouping) {
  if (grouping == nullptr) return std::nullopt;
  const auto problem = [&](std::string_view what) { return Error{fmt::format("--by {}: {}", plan.rows.by, what)}; };
  if (plan.flows.packets_only) return problem("leave out --packets-only, which keeps no flows");
  if (plan.flows.key != KeyFields::five_tuple) return problem("leave out --key, since groups are made of whole keys");
  if (grouping->is_of_ends() && plan.rows.geo.empty()) return problem("name a file of places with --geo");
  if (plan.flows.biflow) return problem("leave out --biflow, since groups have both directions in any case");
  if (plan.statistics.digest) return problem("leave out --digest, which is of flows");
  for (const std::string& column : plan.statistics.columns)
    if (column.starts_with('+')) return problem(fmt::format("all columns are there: leave out --columns {}", column));
  return std::nullopt;
}

std::optional<Error> wire_groups(const Plan& plan, const Grouping* grouping, const RunNeeds& needs, Wiring& wiring) {
  auto local = Networks::parse(plan.rows.local);
  if (!local) return Error{"--local " + local.error().message};
  if (grouping == nullptr) return std::nullopt;
  auto groups = GroupSchema::make(*grouping, *std::move(local), wiring.schema.columns(), plan.statistics.columns,
                                  wiring.schema.hosts());
  if (!groups) return groups.error();
  wiring.groups = *std::move(groups);
  if (needs.every_ns != 0) wiring.schema.need_interval();
  return std::nullopt;
}

}  // namespace

Result<Wiring> wire(const Plan& plan, const RunNeeds& needs, const Held& held) {
  const auto is_named = [&plan](const SourceKind* kind) { return kind->matches(plan.source); };
  if (std::ranges::count_if(source_kinds(), is_named) != 1)
    return Error{"give one source: -r FILE, -i INTERFACE or -g SPEC (parshall list sources)"};

  Wiring wiring;
  wiring.session.seed = plan.flows.seed ? *plan.flows.seed : random_seed();
  wiring.statistics = {.quantiles = plan.statistics.quantiles,
                       .relative_error = plan.statistics.quantile_error,
                       .seed = wiring.session.seed,
                       .biflows = plan.flows.biflow};
  const SourceKind& kind = kind_of(plan.source);
  if (kind.interfaces != nullptr) wiring.statistics.interfaces = kind.interfaces(plan.source, held);
  std::vector<std::string> statistics;
  const Grouping* const grouping = find_grouping(plan.rows.by);
  if (const auto problem = rows_problem(plan, grouping)) return *problem;
  ColumnList list = ColumnList::more;
  if (grouping == nullptr)
    list = take_columns(plan.statistics.columns, statistics);
  else
    std::ranges::copy(grouping->columns_of_flows(), std::back_inserter(statistics));
  if (plan.statistics.digest) statistics.emplace_back("digest");
  const auto hosts = wire_hosts(plan, held, wiring.session);
  if (!hosts) return hosts.error();
  wiring.statistics.resolves_names = plan.rows.resolve;
  if (!plan.rows.geo.empty() && grouping == nullptr)
    statistics.insert(statistics.end(), {"src_asn", "dst_asn", "src_country", "dst_country"});
  const bool has_names = *hosts != nullptr && (*hosts)->has_names();
  if (has_names && (grouping == nullptr || plan.rows.resolve))
    statistics.insert(statistics.end(), {"src_name", "dst_name"});
  if (const auto problem = wire_labels(plan, wiring.session, wiring.statistics, statistics)) return *problem;
  if (const auto problem = wire_model(plan, held.texts, wiring.statistics, statistics)) return *problem;
  auto schema = Schema::make(statistics, wiring.statistics, list);
  if (!schema) return schema.error();
  wiring.schema = *std::move(schema);
  if (const auto problem = community_id_problem(plan.flows, wiring.schema)) return *problem;
  if (const auto problem = wire_biflow(plan, list, wiring)) return *problem;

  wiring.schema.set_hosts(*hosts);
  wiring.schema.set_key(plan.flows.key);
  wiring.schema.set_forms(plan.statistics.times == "iso" ? TextForm::iso_time : TextForm::number,
                          plan.statistics.integers == "text" ? TextForm::quoted_number : TextForm::number);

  if (const auto problem = wire_groups(plan, grouping, needs, wiring)) return *problem;

  const auto models = thread_models();
  const auto model = std::ranges::find(models, plan.threads.model, &ThreadModelEntry::name);
  if (model == models.end()) return Error{fmt::format("no thread model \"{}\"", plan.threads.model)};
  if (plan.flows.packets_only && model->model != ThreadModel::run_to_completion)
    return Error{"--packets-only counts in one thread per worker: leave out --threads"};

  if (const auto problem = cores_problem(plan.threads)) return *problem;
  SessionOptions& session = wiring.session;
  if (const auto problem = wire_flows(plan.flows, session)) return *problem;
  if (const auto problem = nic_hash_problem(plan)) return *problem;
  session.stage.side_facts = wiring.schema.statistics()->needs_side();
  session.stage.packet_names = wiring.schema.statistics()->has_digest();
  if (const auto problem = names_problem(plan.flows, model->model, wiring.schema)) return *problem;
  if (wiring.schema.statistics()->reads_packets()) session.stage.payloads_behind = session.header;
  session.workers = plan.threads.workers;
  session.stage.explain = plan.explain;
  session.threads = {.model = model->model,
                     .scheduler = plan.threads.scheduler,
                     .cores = plan.threads.cores,
                     .ring_packets = plan.threads.ring,
                     .busy_poll = plan.threads.busy_poll};
  if (const auto problem = wire_source(plan.source, needs, held, wiring)) return *problem;
  if (const auto problem = wire_forwarding(plan, wiring.statistics.classifier.get(), session)) return *problem;
  if (const auto problem = wire_tasks(plan, held.texts, wiring)) return *problem;
  const bool writes_recall = std::ranges::find(plan.outputs, "recall", &OutputPlan::kind) != plan.outputs.end();
  if (writes_recall || needs.recall)
    if (const auto problem = watch_recall(plan, wiring); problem && writes_recall)
      return Error{"--export recall: " + problem->message};
  if (const auto problem = outputs_problem(plan)) return *problem;
  session.stage.counts_bytes = needs.counts_bytes || std::ranges::any_of(plan.outputs, is_metrics);
  session.snapshots = needs.snapshots;
  session.keeps_ended = needs.keeps_ended;
  session.commits_first = needs.commits_first;
  return wiring;
}

}  // namespace parshall
