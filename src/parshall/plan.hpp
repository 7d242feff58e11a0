// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/choices.hpp"

namespace parshall {

/// Source of the packets; exactly one of the first three is set.
struct SourcePlan {
  std::string file;       ///< capture, - for standard input
  std::string interface;  ///< kernel interface, several ("eth0,eth1"), any, PCI address, or vdev:NAME,ARGS
  std::string traffic;    ///< built-in traffic: NAME=VALUE,...
  std::string filter;     ///< in libpcap's language; empty: all packets

  std::string via = "af_packet";  ///< how a kernel interface is read: af_packet or af_xdp
  static constexpr std::uint16_t kDpdkDescriptors = 4096;
  std::uint16_t dpdk_descriptors() const noexcept {
    return descriptors != 0 ? static_cast<std::uint16_t>(descriptors) : kDpdkDescriptors;
  }

  std::string forward;             ///< device that packets are forwarded to; empty: no forwarding
  std::vector<std::string> marks;  ///< CLASS=CODE words for forwarded packets
  std::uint16_t queues = 0;        ///< 0: one per worker
  std::uint32_t descriptors = 0;   ///< packets that a queue holds; 0: a default for the device
  std::uint32_t mbufs = 0;         ///< packet buffers per queue; 0: derived
  std::size_t batch = 256;         ///< packets asked for at a time
  std::string eal;                 ///< additional DPDK EAL arguments

  std::uint64_t packets = 0;      ///< packets to stop after; 0: no limit
  std::uint64_t duration_ns = 0;  ///< time to stop after: packet time of a file, else clock time; 0: no limit

  friend bool operator==(const SourcePlan&, const SourcePlan&) = default;
};

/// Definition of a flow, and the table that holds the flows.
struct FlowPlan {
  static constexpr std::uint64_t kUsual = std::uint64_t{1} << 20;  ///< default capacity in flows

  IpHeader header = IpHeader::outermost;
  KeyFields key = KeyFields::five_tuple;
  Identity identity = Identity::exact;
  std::string hash;  ///< hash of the key; empty: the keyed default
  std::string table = "bucketed";
  bool observe_merges = false;
  bool biflow = false;        ///< true: both directions of a connection are one flow
  bool packets_only = false;  ///< true: no flows are kept
  std::uint64_t flows = 0;    ///< capacity per worker; 0: kUsual, or as many as a capture may have
  std::optional<std::uint32_t>
      flood_filter_bytes;                    ///< 0: never; unset: on where flows may be reduced or tasks judge flows
  std::uint64_t idle_ns = 0, active_ns = 0;  ///< 0: never
  std::uint64_t linger_ns = 0;               ///< for flows that had FIN or RST; 0: as for all others
  std::optional<std::uint64_t> seed;         ///< unset: random
  std::string model;                         ///< file of a class model; empty: flows are not classified
  std::string learn;                         ///< file for a model that learns from labels; empty: none learns
  std::size_t classifiers = 0;               ///< threads that classify flows; 0: the workers do

  friend bool operator==(const FlowPlan&, const FlowPlan&) = default;
};

/// Statistics kept for each flow beside its counters.
struct StatisticsPlan {
  std::vector<std::string> columns;  ///< all columns, in order; if the first is "+NAME", they are added to the eleven
  bool digest = false;               ///< adds the columns of the group digest
  std::uint64_t label_one_in = 0;    ///< connections that get a label: one of this many; 0: none
  std::string times = "ns";          ///< format of times in CSV and JSON: ns or iso
  std::string integers = "number";   ///< format of 64-bit integers in JSON: number or text
  QuantileMethod quantiles = QuantileMethod::histogram;
  double quantile_error = 0.05;  ///< relative error of histograms

  friend bool operator==(const StatisticsPlan&, const StatisticsPlan&) = default;
};

/// What the rows of reports and outputs are.
struct RowsPlan {
  std::string by;                  ///< grouping of flows, such as host; empty: flows
  std::vector<std::string> local;  ///< networks inside
  std::string hosts;               ///< file of names of addresses
  std::vector<std::string> geo;    ///< files of places of addresses
  bool resolve = false;            ///< addresses get the names that answers of DNS give them

  friend bool operator==(const RowsPlan&, const RowsPlan&) = default;
};

/// Tasks to run on the traffic in each window.
struct TasksPlan {
  std::vector<std::string> names;  ///< tasks with default parameters
  std::vector<std::string> specs;  ///< NAME:PARAMETER=VALUE,... or a condition
  std::string preset;              ///< name of a Preset, whose tasks also run; empty: none
  std::string states;              ///< TOML file of monitoring states
  std::string overload = "adapt";  ///< policy under overload
  double recall = 0.75;            ///< wanted, for tasks that name none
  std::string window = "1s";
  std::uint64_t keys = std::uint64_t{1} << 20;  ///< keys that a task counts exactly in a window
  std::string alarms;                           ///< PARAMETER=VALUE,... of AlarmRules, for all tasks

  bool any() const noexcept { return !names.empty() || !specs.empty() || !preset.empty() || !states.empty(); }

  friend bool operator==(const TasksPlan&, const TasksPlan&) = default;
};

/// Threads and how the work is spread over them.
struct ThreadsPlan {
  std::size_t workers = 1;
  std::string model = "run-to-completion";
  std::size_t ring = 65536;  ///< packets in the ring between receive and flow thread
  std::vector<unsigned> cores;
  Scheduler scheduler = Scheduler::other;
  bool busy_poll = false;

  friend bool operator==(const ThreadsPlan&, const ThreadsPlan&) = default;
};

/// Output that receives results while the run goes on.
struct OutputPlan {
  std::string kind;    ///< kind of exporter
  std::string target;  ///< file, or - for standard output

  friend bool operator==(const OutputPlan&, const OutputPlan&) = default;
};

/// Complete description of a run, built from the command line, a TOML file or code. Plain data; wire() checks it.
struct Plan {
  SourcePlan source;
  FlowPlan flows;
  StatisticsPlan statistics;
  RowsPlan rows;
  TasksPlan tasks;
  ThreadsPlan threads;
  std::vector<OutputPlan> outputs;
  bool explain = false;  ///< true: reports show where the time goes

  friend bool operator==(const Plan&, const Plan&) = default;
};

/// Contents of the files that a plan names, for a caller that has them. A file whose text is empty is read.
struct PlanTexts {
  std::string model, states, hosts;
};

}  // namespace parshall
