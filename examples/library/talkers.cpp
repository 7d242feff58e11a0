// SPDX-License-Identifier: Apache-2.0
// Who sends most: c++ -std=c++20 talkers.cpp $(pkg-config --cflags --libs parshall)
#include <cstdio>
#include <map>
#include <string>

#include "parshall/monitor.hpp"

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: talkers CAPTURE\n"), 2;
  parshall::Plan plan;
  plan.source.file = argv[1];
  plan.flows.idle_ns = 15'000'000'000;

  std::map<std::string, std::uint64_t> bytes_of;
  parshall::Subscriber sum{.name = "talkers", .records = [&](const parshall::RecordBatch& batch) {
                             for (std::size_t row = 0; row < batch.rows(); ++row) {
                               const auto source = batch[row][2].as_address();
                               const std::uint64_t wire_bytes = batch[row][8].as_unsigned();
                               bytes_of[{source.begin(), source.end()}] += wire_bytes;
                             }
                           }};
  auto monitor = parshall::Monitor::start(plan, {sum});
  if (!monitor) return std::fprintf(stderr, "talkers: %s\n", monitor.error().message.c_str()), 1;
  const parshall::RunSummary summary = monitor->finish();

  for (const auto& [address, bytes] : bytes_of) {
    for (const unsigned char byte : address) std::printf("%02x", byte);
    std::printf(" %llu\n", static_cast<unsigned long long>(bytes));
  }
  const parshall::OutputSummary& account = summary.outputs.back();
  std::printf("%llu packets counted, %llu in %llu records written\n",
              static_cast<unsigned long long>(summary.accounting.counted()),
              static_cast<unsigned long long>(account.written.packets),
              static_cast<unsigned long long>(account.written.records));
  if (summary.damage) std::fprintf(stderr, "talkers: %s\n", summary.damage->c_str());
  return summary.accounting.balanced() && account.written.packets == summary.accounting.counted() ? 0 : 1;
}
