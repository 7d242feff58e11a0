// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/choices.hpp"

namespace parshall {

class BpfFilter;

/// Where packets come from: one of the first three is named.
struct SourcePlan {
  std::string file;       ///< capture, - for standard input
  std::string interface;  ///< kernel interface, several ("eth0,eth1"), any, PCI address, or vdev:NAME,ARGS
  std::string traffic;    ///< built-in: NAME=VALUE,...
  std::string filter;     ///< in libpcap's language; empty: all packets
  std::shared_ptr<const BpfFilter> compiled_filter;  ///< of it; null: wire() is to
  std::uint32_t interface_number = 0;                ///< the kernel's; 0: who needs it is to ask
  std::vector<std::string> interface_names;          ///< of several; none: who needs them is to ask

  std::string via = "af_packet";  ///< how a kernel interface is read; or af_xdp
  static constexpr std::uint16_t kDpdkDescriptors = 4096;
  std::uint16_t dpdk_descriptors() const noexcept {
    return descriptors != 0 ? static_cast<std::uint16_t>(descriptors) : kDpdkDescriptors;
  }

  std::string forward;             ///< the other end of a wire; empty: packets go nowhere
  std::vector<std::string> marks;  ///< CLASS=CODE, of packets that go on
  std::uint16_t queues = 0;        ///< 0: one per worker
  std::uint32_t descriptors = 0;   ///< packets that a queue holds; 0: what suits the device
  std::uint32_t mbufs = 0;         ///< per queue; 0: derived
  std::size_t batch = 256;         ///< packets asked for at a time
  std::string eal;                 ///< more arguments for DPDK

  std::uint64_t packets = 0;      ///< to stop after; 0: all
  std::uint64_t duration_ns = 0;  ///< likewise: of packet time of a file, of the clock otherwise

  friend bool operator==(const SourcePlan&, const SourcePlan&) = default;
};

/// What a flow is, and where flows are kept.
struct FlowPlan {
  static constexpr std::uint64_t kUsual = std::uint64_t{1} << 20;  ///< flows that there is room for

  IpHeader header = IpHeader::outermost;
  KeyFields key = KeyFields::five_tuple;
  Identity identity = Identity::exact;
  std::string hash;  ///< empty: the keyed one
  std::string table = "bucketed";
  bool observe_merges = false;
  bool biflow = false;        ///< both directions of a connection are one flow
  bool packets_only = false;  ///< no flows at all
  std::uint64_t flows = 0;    ///< per worker; 0: kUsual, or as many as a capture may have
  std::optional<std::uint32_t>
      flood_filter_bytes;                    ///< nothing: where flows may give way, or tasks judge them; 0: never
  std::uint64_t idle_ns = 0, active_ns = 0;  ///< 0: never
  std::uint64_t linger_ns = 0;               ///< of flows that had FIN or RST; 0: as all others
  std::optional<std::uint64_t> seed;         ///< nothing: random
  std::string model;                         ///< of classes, a file; empty: flows are not classified
  std::string model_text;                    ///< what it says; empty: what is in the file
  std::size_t classifiers = 0;               ///< threads that tell classes; 0: the workers do

  friend bool operator==(const FlowPlan&, const FlowPlan&) = default;
};

/// What is kept of each flow beside its counters.
struct StatisticsPlan {
  std::vector<std::string> more;     ///< columns beside the eleven that every record begins with
  std::vector<std::string> columns;  ///< instead of these: all columns, in their order; of "+NAME" likewise more
  std::string times = "ns";          ///< in text for machines; or "iso"
  std::string integers = "number";   ///< of 64 bits, in JSON; or "text"
  QuantileMethod quantiles = QuantileMethod::histogram;
  double quantile_error = 0.05;  ///< relative, of histograms

  friend bool operator==(const StatisticsPlan&, const StatisticsPlan&) = default;
};

/// How flows give way to lighter monitoring states where time is short.
enum class Adaptation : std::uint8_t { accuracy, adapt_only, none };

/// What is asked of the traffic, window by window.
struct TasksPlan {
  std::vector<std::string> names;  ///< with their defaults
  std::vector<std::string> specs;  ///< NAME:PARAMETER=VALUE,... or a condition
  std::string states;              ///< TOML file of monitoring states
  std::string states_text;         ///< what it says; empty: what is in the file
  std::string profile;             ///< what packets cost in them, a file
  std::string profile_text;        ///< what it says; empty: what is in the file
  Adaptation adaptation = Adaptation::accuracy;
  ControlPolicy policy = ControlPolicy::tasks;  ///< of Adaptation::accuracy
  Preference prefer = Preference::packets;      ///< of ControlPolicy::tasks
  bool sheds = true;                            ///< packets, where even the lightest states take too long
  double accuracy = 0.75;                       ///< recall to keep, of tasks that name none
  std::string window = "1s";
  std::uint64_t keys = std::uint64_t{1} << 20;  ///< that a task counts exactly in a window

  friend bool operator==(const TasksPlan&, const TasksPlan&) = default;
};

/// How the work is spread.
struct ThreadsPlan {
  std::size_t workers = 1;
  std::string model = "run-to-completion";
  std::size_t ring = 65536;  ///< packets between receive and monitor thread
  std::vector<unsigned> cores;
  Scheduler scheduler = Scheduler::other;
  bool busy_poll = false;

  friend bool operator==(const ThreadsPlan&, const ThreadsPlan&) = default;
};

/// Where what leaves a run goes while it goes on.
struct OutputPlan {
  std::string kind;    ///< of exporter
  std::string target;  ///< a file; - for standard output

  friend bool operator==(const OutputPlan&, const OutputPlan&) = default;
};

/// All that a run is: what the command line, a TOML file and code come to. Plain data; wire() checks it.
struct Plan {
  SourcePlan source;
  FlowPlan flows;
  StatisticsPlan statistics;
  TasksPlan tasks;
  ThreadsPlan threads;
  std::vector<OutputPlan> outputs;
  bool explain = false;  ///< in reports, where the time goes

  friend bool operator==(const Plan&, const Plan&) = default;
};

}  // namespace parshall
