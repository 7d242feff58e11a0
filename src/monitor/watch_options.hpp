// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/options.hpp"
#include "engine/session.hpp"

namespace parshall::cli {

/// `parshall watch` as typed, or `parshall classify`, which has the same options.
struct WatchOptions {
  std::string command = "watch";
  std::string file, interface, traffic;
  std::vector<std::string> filter;

  std::string via = "af_packet", eal;
  std::string forward;             ///< the other end of the wire; empty: packets go nowhere
  std::vector<std::string> marks;  ///< CLASS=CODE
  std::uint16_t queues = 0, descriptors = 4096;
  std::uint32_t mbufs = 0;
  std::size_t batch = 256;

  bool inner = false;
  std::string key = "5tuple", identity = "exact", hash, table = "bucketed";
  bool observe_merges = false, packets_only = false;
  std::int64_t flood_filter = -1;  ///< bytes; below 0: where flows give way
  std::string flows = "1Mi", idle = "0", active = "0";
  std::string seed;

  std::vector<std::string> statistics;
  std::string quantiles = "histogram";
  double quantile_error = 0.05;

  std::vector<std::string> tasks, task_specs;
  std::string states, profile;
  std::string version;  ///< of the program
  std::string window = "1s", task_keys = "1Mi", events, recall;
  std::string hook, hook_every = "1s";

  std::string format = "text", output = "-", every = "0", sort;
  std::string spool;  ///< empty: as the source wants it
  std::int64_t top = -1;
  bool live = false, quiet = false, explain = false;
  bool no_adapt = false, adapt_only = false, no_shed = false;
  double accuracy = 0.75;

  std::string duration = "0", count = "0";
  std::size_t workers = 1, ring = 65536;
  std::string threads = "run-to-completion", scheduler = "other";
  std::string model;  ///< of classes, a file; empty: flows are not classified
  std::size_t classifiers = 0;
  std::vector<unsigned> cores;
  bool busy_poll = false;
};

void declare(Command command, WatchOptions& options);

/// What the words mean. Errors are the user's: exit status kUsage.
struct WatchPlan {
  SessionOptions session;
  Schema schema;
  StatisticOptions statistics;
  std::vector<TaskSpec> tasks;
  TaskOptions task_options;
  std::uint64_t every_ns = 0;
  std::uint64_t hook_every_ns = 0;
  std::uint64_t wall_duration_ns = 0;  ///< 0: as long as packets come
  std::size_t top = 0;
  std::string sort;
};
Result<WatchPlan> plan(const WatchOptions& options);

}  // namespace parshall::cli
