// SPDX-License-Identifier: Apache-2.0
// Question: what does a record cost in each kind of output? Unit: ns of thread CPU time per record of 22 columns, one
// core. This is the output's own work, including system calls; files are on /dev/null, except Parquet's, which are
// written. The shared cost of reading the columns is reported separately. Rounds are interleaved; the report shows
// medians, minima and maxima. Each output is finished, and must have taken every record.
#include <fmt/core.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "pipeline/output/exporters.hpp"
#include "pipeline/output/records/schema.hpp"

namespace parshall::bench {
namespace {

constexpr std::size_t kBatch = 256;
const std::vector<std::string> kColumns{"identity", "totals", "duration", "tcp_flags"};

double thread_ns() {
  timespec now;
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

/// Makes records as on a link: some hosts far more often than others, times in order, a third IPv6.
std::vector<FlowRecord> make_records(std::size_t count) {
  std::mt19937_64 random(1);
  std::vector<FlowRecord> records(count);
  std::uint64_t now_ns = 1'700'000'000'000'000'000;
  for (FlowRecord& record : records) {
    now_ns += random() % 20'000;
    const std::uint64_t packets = 1 + (random() >> (40 + random() % 24));
    record = {.key = {},
              .packets = packets,
              .ip_bytes = packets * (40 + random() % 1460),
              .wire_bytes = packets * 1514,
              .first_ns = now_ns - random() % 1'000'000'000,
              .last_ns = now_ns,
              .tcp_flags = static_cast<std::uint16_t>(random() % 32),
              .end_reason = EndReason::idle_timeout};
    record.key.ip_version = random() % 3 == 0 ? 6 : 4;
    record.key.protocol = random() % 4 == 0 ? 17 : 6;
    const std::size_t bytes = record.key.address_bytes();
    for (const std::size_t begin : {std::size_t{0}, bytes}) {
      const auto host = static_cast<std::uint32_t>(random() >> (44 + random() % 16));
      std::memcpy(record.key.address.data() + begin + bytes - 4, &host, 4);
    }
    record.key.src_port_bytes = {static_cast<std::uint8_t>(random()), static_cast<std::uint8_t>(random())};
    record.key.dst_port_bytes = {1, static_cast<std::uint8_t>(random() % 4)};
  }
  return records;
}

struct Cost {
  std::string kind;
  std::vector<double> ns = {};
};

class Exports {
 public:
  explicit Exports(std::size_t count)
      : records_(make_records(count)),
        schema_(*Schema::make(kColumns, {.seed = 1})),
        values_(kBatch * schema_.columns().size()) {
    row_.resize(schema_.statistics()->row_bytes());
    FlowOrigin::begin_at(schema_.statistics()->origin_state(row_.data()), 1'699'999'999'000'000'000);
  }

  std::size_t columns() const noexcept { return schema_.columns().size(); }

  /// Returns ns per record: for reading it, and for `exporter`, which may be null.
  std::pair<double, double> run(Exporter* exporter) {
    double reading = 0, exporting = 0;
    const auto timed = [](double& sum, const auto& work) {
      const double begun = thread_ns();
      work();
      sum += thread_ns() - begun;
    };
    if (exporter != nullptr) exporter->begin(schema_.columns());
    std::vector<ReportFlow> flows;
    for (std::size_t begin = 0; begin < records_.size(); begin += kBatch) {
      flows.clear();
      timed(reading, [&] {
        for (std::size_t i = begin; i < std::min(begin + kBatch, records_.size()); ++i) {
          const std::span values(values_.data() + (i - begin) * columns(), columns());
          schema_.read(records_[i], row_, {}, values);
          flows.push_back({records_[i], values});
        }
      });
      if (exporter != nullptr) timed(exporting, [&] { exporter->records(flows); });
    }
    if (exporter != nullptr) {
      timed(exporting, [&] { exporter->finish(); });
      const FlushOutcome outcome = exporter->flush();
      if (outcome.error || outcome.not_sent != OutputSummary::Sum() || outcome.held != OutputSummary::Sum()) {
        fmt::print("records were not taken\n");
        std::exit(1);
      }
    }
    const auto each = static_cast<double>(records_.size());
    return {reading / each, exporting / each};
  }

 private:
  std::vector<FlowRecord> records_;
  Schema schema_;
  std::vector<std::byte> row_;
  std::vector<Value> values_;
};

void print(const Cost& cost) {
  std::vector<double> ns = cost.ns;
  std::ranges::sort(ns);
  fmt::print("{:<24}{:>8.0f} ns a record   (least {:.0f}, most {:.0f})\n", cost.kind, ns[ns.size() / 2], ns.front(),
             ns.back());
}

int run(bool is_smoke) {
  const std::string folder = std::filesystem::temp_directory_path() / fmt::format("parshall-exports-{}", ::getpid());
  Exports exports(is_smoke ? 20'000 : 1'000'000);
  Cost reading{"reading the columns"};
  std::vector<Cost> costs{{"csv"}, {"jsonl"}, {"ipfix"}, {"arrow"}, {"parquet"}};
  fmt::print("{} columns\n", exports.columns());
  for (int round = 0; round < (is_smoke ? 1 : 9); ++round)
    for (Cost& cost : costs) {
      auto exporter = open_exporter(*find_exporter(cost.kind),
                                    cost.kind == "parquet" ? folder + ",every=1h,partition=none" : "/dev/null");
      if (!exporter) {
        fmt::print("{}\n", exporter.error().message);
        return 1;
      }
      const auto [of_reading, of_output] = exports.run(exporter->get());
      reading.ns.push_back(of_reading);
      cost.ns.push_back(of_output);
    }
  print(reading);
  for (const Cost& cost : costs) print(cost);
  std::filesystem::remove_all(folder);
  fmt::print("all records taken\n");
  return 0;
}

}  // namespace
}  // namespace parshall::bench

int main(int argc, char** argv) { return parshall::bench::run(argc > 1 && std::strcmp(argv[1], "--smoke") == 0); }
