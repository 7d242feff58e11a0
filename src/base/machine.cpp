// SPDX-License-Identifier: Apache-2.0
#include "base/machine.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>

namespace parshall {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string after_colon(const std::string& path, std::string_view field) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (const auto colon = line.find(": "); line.starts_with(field) && colon != std::string::npos)
      return line.substr(colon + 2);
  return {};
}

/// Returns the processor's name and generation. The generation matters because hosts show guests just "AMD EPYC". Arm
/// CPUs give numbers instead of names.
std::string processor() {
  constexpr const char* kInfo = "/proc/cpuinfo";
  if (const std::string maker = after_colon(kInfo, "CPU implementer"); !maker.empty())
    return fmt::format("arm64 (implementer {}, part {}, revision r{}p{})", maker, after_colon(kInfo, "CPU part"),
                       after_colon(kInfo, "CPU variant"), after_colon(kInfo, "CPU revision"));
  const std::string family = after_colon(kInfo, "cpu family"), model = after_colon(kInfo, "model\t");
  const std::string name = after_colon(kInfo, "model name");
  return family.empty() || model.empty() ? name : fmt::format("{} (family {}, model {})", name, family, model);
}

std::string cache_bytes(int name) {
  const long bytes = ::sysconf(name);
  return bytes > 0 ? fmt::format("{} KB", bytes >> 10) : "";
}

/// Reads a file that holds text like "32768K". Returns 0 if it has no number.
std::size_t kilobytes_in(const std::string& path) {
  std::size_t kilobytes = 0;
  std::istringstream(first_line(path)) >> kilobytes;
  return kilobytes << 10;
}

/// Returns the percentage of processor time since boot that the host gave to other guests.
std::string steal() {
  const ProcessorTime time = processor_time();
  return time.all > 0 ? fmt::format("{:.2f} %", 100 * time.stolen / time.all) : "";
}

/// Returns the load averages over 1, 5 and 15 minutes.
std::string load() {
  std::array<double, 3> averages{};
  if (::getloadavg(averages.data(), 3) != 3) return {};
  return fmt::format("{:.2f} {:.2f} {:.2f}", averages[0], averages[1], averages[2]);
}

std::string chosen(const std::string& choices) {
  const auto open = choices.find('['), close = choices.find(']');
  return open == std::string::npos || close == std::string::npos ? "" : choices.substr(open + 1, close - open - 1);
}

}  // namespace

ProcessorTime processor_time() {
  std::istringstream cpu(first_line("/proc/stat"));
  std::string label;
  cpu >> label;
  ProcessorTime time;
  double value = 0;
  // fields: user, nice, system, idle, iowait, irq, softirq, steal; see proc(5)
  for (int field = 0; field < 8 && cpu >> value; ++field) {
    time.all += value;
    if (field == 3 || field == 4) time.idle += value;
    if (field == 7) time.stolen = value;
  }
  return time;
}

std::vector<std::pair<std::string, std::string>> describe_machine() {
  utsname kernel{};
  ::uname(&kernel);
  const std::size_t l3_bytes = last_level_cache_bytes();
  std::vector<std::pair<std::string, std::string>> all{
      {"cpu", processor()},
      {"cores", fmt::format("{}", ::sysconf(_SC_NPROCESSORS_ONLN))},
      {"threads_of_core_0", first_line("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list")},
      {"l1d", cache_bytes(_SC_LEVEL1_DCACHE_SIZE)},
      {"l2", cache_bytes(_SC_LEVEL2_CACHE_SIZE)},
      {"l3", l3_bytes != 0 ? fmt::format("{} KB", l3_bytes >> 10) : ""},
      {"kernel", kernel.release},
      {"transparent_hugepages", chosen(first_line("/sys/kernel/mm/transparent_hugepage/enabled"))},
      {"governor", first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")},
      {"load", load()},
      {"steal", steal()},
      {"compiler", __VERSION__},
      {"flags", PARSHALL_CPU_FLAGS},
  };
  std::erase_if(all, [](const auto& pair) { return pair.second.empty(); });
  return all;
}

std::size_t last_level_cache_bytes() {
  if (const std::size_t bytes = kilobytes_in("/sys/devices/system/cpu/cpu0/cache/index3/size"); bytes != 0)
    return bytes;
  return static_cast<std::size_t>(std::max(0l, ::sysconf(_SC_LEVEL3_CACHE_SIZE)));
}

std::size_t available_bytes() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);)
    if (std::size_t kilobytes = 0; std::sscanf(line.c_str(), "MemAvailable: %zu", &kilobytes) == 1)
      return kilobytes << 10;
  return ~std::size_t{0};
}

}  // namespace parshall
