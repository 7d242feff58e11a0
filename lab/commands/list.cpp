// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "engine/tables.hpp"
#include "engine/thread_models.hpp"
#include "lab/classify/shape.hpp"
#include "lab/commands/bench_run.hpp"
#include "lab/contention/contention.hpp"
#include "lab/overload/policy.hpp"
#include "lab/parse/header_access.hpp"
#include "lab/states/experiment.hpp"
#include "lab/tables/tables.hpp"
#include "pipeline/flow/hashes/registry.hpp"

namespace parshall::cli {
namespace {

void list_experiments() {
  fmt::print("parshall bench tables: cost of finding a flow and counting a packet, by table:\n");
  for (const lab::TableUnderTest& table : lab::tables_under_test()) fmt::print("  {:<22} {}\n", table.name, table.help);
  fmt::print("parshall bench sketches: the same for sketches\n");
  fmt::print("parshall bench hashes: cost and quality of hashing a key (parshall list hashes)\n");
  fmt::print("parshall bench parse: cost of reading a packet's identity, by what is read:\n");
  for (const lab::HeaderAccess& access : lab::header_accesses()) fmt::print("  {:<22} {}\n", access.name, access.help);
  fmt::print("parshall bench receive: cost of queues and packet-buffer pools of DPDK, without a device\n");
  fmt::print("parshall bench models: throughput of the whole monitor, by thread model:\n");
  for (const ThreadModelEntry& model : thread_models()) fmt::print("  {:<22} {}\n", model.name, model.help);
  fmt::print("parshall bench classify: flows classified per second, by queues and threads:\n");
  for (const lab::ClassifyShape& shape : lab::classify_shapes()) fmt::print("  {:<22} {}\n", shape.name, shape.help);
  fmt::print("parshall bench pipeline: cost of each step of a packet: polling, decoding, counting, measuring\n");
  fmt::print("parshall bench batch: cost of a packet, by batch size\n");
  fmt::print("parshall bench advise: recommended table, sizes and batch for given traffic\n");
  fmt::print("parshall bench heavy-hitters: one task with all flows kept, and with sketches\n");
  fmt::print("parshall bench profile: costs of a packet: to find its flow, and of tasks' work\n");
  fmt::print("parshall bench states: cost of monitoring states without their tasks:\n");
  for (const lab::StatesWayEntry& way : lab::states_ways()) fmt::print("  {:<22} {}\n", way.name, way.help);
  fmt::print("parshall bench steps: time until accuracy control satisfies all tasks, by how its step changes\n");
  fmt::print("parshall bench adaptive: adaptation under overload\n");
  fmt::print("parshall bench overload: tasks that are satisfied under simulated overload, by policy:\n");
  for (const OverloadPolicyEntry& policy : overload_policies()) fmt::print("  {:<22} {}\n", policy.name, policy.help);
  fmt::print("parshall bench contention: cost of a packet when several cores count:\n");
  for (const lab::CountingWay& way : lab::counting_ways()) fmt::print("  {:<22} {}\n", way.name, way.help);
}

void list_tables() {
  for (const TableEntry& table : table_registry())
    fmt::print("{:<12} {:<24} {:>4} bytes/flow  {}\n", table.name, table.exact ? "exact" : "fingerprint, nic-hash",
               table.memory_bytes(1 << 20) >> 20, table.help);
}

void list_hashes() {
  for (const HashFunction& hash : hash_registry())
    fmt::print("{:<14} {} bits  {:<5}  {:<16}  {}{}{}\n", hash.name, hash.bits, hash.keyed ? "keyed" : "",
               hash.takes(HashInput::five_tuple) ? "5-tuple" : "addresses, ports", hash.help,
               &hash == &default_hash() ? " (the default)" : "", hash.available() ? "" : " (not available here)");
  fmt::print("{:<14} {} bits  {:<5}  {:<16}  {}\n", "nic", 32, "", "the device's",
             "the device's RSS hash: --identity nic-hash");
}

}  // namespace

std::vector<Topic> lab_topics() {
  return {{"experiments", "experiments of bench", list_experiments},
          {"tables", "flow tables: --table of parshall-lab watch", list_tables},
          {"hashes", "hashes of flow keys: --hash of parshall-lab watch", list_hashes}};
}

}  // namespace parshall::cli
