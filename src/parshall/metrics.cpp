// SPDX-License-Identifier: Apache-2.0
#include "parshall/metrics.hpp"

#include <fmt/format.h>
#include <prometheus/collectable.h>
#include <prometheus/exposer.h>
#include <prometheus/metric_family.h>

#include <exception>
#include <map>
#include <string_view>
#include <utility>

#include "base/version.hpp"

namespace parshall {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

/// In base units, with the unit as the name's end. Source: the naming practices of Prometheus.
struct Naming {
  std::string name;
  double factor = 1;
  MetricType type = MetricType::Counter;
};
Naming naming_of(const CounterLine& line) {
  if (line.id == Counter::live_flow_packets)  // packets leave it as flows end
    return {fmt::format("parshall_{}", line.name), 1, MetricType::Gauge};
  constexpr double kSPerNs = 1e-9;
  std::string name(line.name), unit(line.unit);
  double factor = 1;
  if (unit == "ns") {
    name.resize(name.size() - std::string_view("_ns").size());
    unit = "seconds";
    factor = kSPerNs;
  }
  if (!name.ends_with(unit)) name += "_" + unit;
  return {fmt::format("parshall_{}_total", name), factor};
}

ClientMetric metric(double value, MetricType type, std::vector<ClientMetric::Label> labels = {}) {
  ClientMetric metric;
  metric.label = std::move(labels);
  (type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
  return metric;
}

/// A total of what is read at any time: what takes a walk over the tables is not.
void add_counters(const Counters& counters, std::vector<MetricFamily>& families) {
  for (const CounterLine& line : Counters::kTable) {
    if (line.by == CountedBy::walk || !counters.known(line.id)) continue;
    const Naming naming = naming_of(line);
    const double value = naming.factor * static_cast<double>(counters[line.id]);
    families.push_back({naming.name, std::string(line.help), naming.type, {metric(value, naming.type)}});
  }
}

void add_outputs(const std::vector<OutputSummary>& outputs, std::vector<MetricFamily>& families) {
  using Sum = OutputSummary::Sum;
  struct Unit {
    std::string_view name, help;
    std::uint64_t Sum::*count;
  };
  constexpr Unit kUnits[] = {{"records", "flow records", &Sum::records},
                             {"packets", "packets in flow records", &Sum::packets},
                             {"findings", "what tasks found", &Sum::findings}};
  std::map<std::string, OutputSummary> by_name;  // one that was removed may have come again
  for (const OutputSummary& output : outputs) {
    OutputSummary& sums = by_name[output.name];
    sums.offered += output.offered;
    sums.written += output.written;
    sums.dropped += output.dropped;
  }
  for (const Unit& unit : kUnits) {
    MetricFamily totals{fmt::format("parshall_output_{}_total", unit.name),
                        fmt::format("{} of an output: offered = written + waiting + dropped", unit.help),
                        MetricType::Counter,
                        {}};
    MetricFamily waiting{fmt::format("parshall_output_waiting_{}", unit.name),
                         fmt::format("{} on their way to an output", unit.help),
                         MetricType::Gauge,
                         {}};
    for (const auto& [name, output] : by_name) {
      for (const auto& [state, sum] : {std::pair<const char*, Sum>{"offered", output.offered},
                                       {"written", output.written},
                                       {"dropped", output.dropped}})
        totals.metric.push_back(
            metric(static_cast<double>(sum.*unit.count), MetricType::Counter, {{"output", name}, {"state", state}}));
      waiting.metric.push_back(
          metric(static_cast<double>(output.waiting().*unit.count), MetricType::Gauge, {{"output", name}}));
    }
    families.push_back(std::move(totals));
    families.push_back(std::move(waiting));
  }
}

class Metrics final : public prometheus::Collectable {
 public:
  explicit Metrics(std::function<MetricsState()> read) : read_(std::move(read)) {}

  std::vector<MetricFamily> Collect() const override {
    const MetricsState state = read_();
    std::vector<MetricFamily> families;
    families.push_back(
        {"parshall_info",
         "what is watched, and by which version",
         MetricType::Gauge,
         {metric(1, MetricType::Gauge, {{"source", state.source}, {"version", std::string(version())}})}});
    families.push_back({"parshall_start_time_seconds",
                        "when the counters were 0, since 1970",
                        MetricType::Gauge,
                        {metric(state.began_s, MetricType::Gauge)}});
    add_counters(state.counters, families);
    add_outputs(state.outputs, families);
    return families;
  }

 private:
  std::function<MetricsState()> read_;
};

class PrometheusServer final : public MetricsServer {
 public:
  explicit PrometheusServer(const std::string& address) : exposer_(address, kThreads) {}

  void serve(std::function<MetricsState()> read) override {
    metrics_ = std::make_shared<Metrics>(std::move(read));
    exposer_.RegisterCollectable(metrics_);
  }

 private:
  static constexpr std::size_t kThreads = 2;

  std::shared_ptr<Metrics> metrics_;
  prometheus::Exposer exposer_;  ///< ends first
};

}  // namespace

Result<std::unique_ptr<MetricsServer>> MetricsServer::open(const std::string& address) {
  const std::string what = "--export prometheus:" + address;
  try {
    return std::unique_ptr<MetricsServer>(std::make_unique<PrometheusServer>(address));
  } catch (const std::exception&) {
    return Error{fmt::format("{}: cannot listen there; is it an address of this host, and is the port free?", what)};
  }
}

}  // namespace parshall
