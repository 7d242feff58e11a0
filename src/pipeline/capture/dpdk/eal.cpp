// SPDX-License-Identifier: Apache-2.0
#include "pipeline/capture/dpdk/eal.hpp"

#include <dirent.h>
#include <fmt/format.h>
#include <pthread.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_log.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <fstream>
#include <memory>
#include <mutex>

namespace parshall::dpdk {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

std::uint64_t free_huge_page_bytes() {
  static constexpr std::string_view kRoot = "/sys/kernel/mm/hugepages";
  std::uint64_t total = 0;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(kRoot.data()), &::closedir);
  while (const dirent* entry = directory ? ::readdir(directory.get()) : nullptr) {
    std::uint64_t page_kb = 0, pages = 0;
    if (std::sscanf(entry->d_name, "hugepages-%lukB", &page_kb) != 1) continue;
    std::ifstream(fmt::format("{}/{}/free_hugepages", kRoot, entry->d_name)) >> pages;
    total += pages * page_kb * 1024;
  }
  return total;
}

/// Returns the argument for one lcore that may run on any CPU this thread may use. EAL then starts no worker threads
/// and pins nothing.
std::string floating_lcore(const cpu_set_t& allowed) {
  std::string cpus;
  for (int cpu = 0; cpu < RTE_MAX_LCORE; ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) cpus += fmt::format("{}{}", cpus.empty() ? "" : ",", cpu);
  }
  return fmt::format("--lcores=0@({})", cpus.empty() ? "0" : cpus);
}

Error too_few_huge_pages(const EalNeeds& needs, std::uint64_t free_bytes) {
  return Error{
      fmt::format("cannot open {}: a PCI device needs {} MiB of free huge pages, there are {} MiB; reserve them "
                  "with: echo {} > /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages",
                  needs.pci_address, needs.memory_bytes / kMiB + 1, free_bytes / kMiB,
                  std::max<std::uint64_t>(1024, needs.memory_bytes / (2 * kMiB) + 1))};
}

bool given(const std::vector<std::string>& arguments, std::string_view option) {
  return std::ranges::any_of(arguments, [&](const std::string& a) { return a.starts_with(option); });
}

}  // namespace

Result<std::vector<std::string>> split_words(std::string_view line) {
  std::vector<std::string> words;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (!quote && std::isspace(static_cast<unsigned char>(c))) {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    if (c == quote) {
      quote = 0;
    } else if (!quote && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == '\\' && quote != '\'' && i + 1 < line.size()) {
      words.back() += line[++i];
    } else {
      words.back() += c;
    }
  }
  if (quote) return Error{fmt::format("EAL arguments {}: a {} is not closed", line, quote)};
  return words;
}

Result<EalState> start_eal(const EalNeeds& needs) {
  static std::mutex mutex;
  static std::optional<EalState> state;
  static std::vector<std::string> arguments;  // EAL keeps pointers into them
  static bool failed = false;
  const std::scoped_lock lock(mutex);
  if (state) {
    if (!needs.pci_address.empty() && !state->pci) {
      return Error{
          fmt::format("cannot open {}: DPDK was started without PCI; open PCI devices first", needs.pci_address)};
    }
    return *state;
  }
  if (failed) return Error{"DPDK could not be started before, and it starts once per process only"};

  EalState wanted{.pci = !needs.pci_address.empty(), .memory_bytes = needs.memory_bytes};
  const std::uint64_t free_bytes = free_huge_page_bytes();
  const bool user_decides = given(needs.extra, "--no-huge") || given(needs.extra, "--huge-dir");
  wanted.huge_pages = user_decides ? !given(needs.extra, "--no-huge") : free_bytes >= needs.memory_bytes;
  if (wanted.pci && !wanted.huge_pages) return too_few_huge_pages(needs, free_bytes);

  cpu_set_t affinity;
  CPU_ZERO(&affinity);
  ::pthread_getaffinity_np(::pthread_self(), sizeof affinity, &affinity);
  // Keeps EAL off the disk and away from other processes. --no-huge excludes --in-memory.
  arguments = {"parshall", "--no-telemetry", wanted.huge_pages ? "--in-memory" : "--no-shconf"};
  if (!given(needs.extra, "--lcores") && !given(needs.extra, "-l") && !given(needs.extra, "-c")) {
    arguments.push_back(floating_lcore(affinity));
  }
  if (wanted.pci) {
    arguments.insert(arguments.end(), {"-a", needs.pci_address});
  } else {
    arguments.insert(arguments.end(), {"--no-pci", "--iova-mode=va"});
  }
  if (!wanted.huge_pages) {
    if (!user_decides) arguments.push_back("--no-huge");
    if (!given(needs.extra, "-m")) {
      // Only pages in use cost memory, so there is room for ports opened later.
      wanted.memory_bytes = 2 * needs.memory_bytes + 256 * kMiB;
      arguments.insert(arguments.end(), {"-m", std::to_string(wanted.memory_bytes / kMiB)});
    }
  }
  arguments.insert(arguments.end(), needs.extra.begin(), needs.extra.end());

  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  const CaughtOutput caught(!given(needs.extra, "--log-level"));
  const int parsed = ::rte_eal_init(static_cast<int>(argv.size()), argv.data());
  ::pthread_setaffinity_np(::pthread_self(), sizeof affinity, &affinity);
  if (parsed < 0) {
    failed = true;
    return Error{fmt::format("DPDK's environment cannot be set up ({}): {}{}", fmt::join(arguments, " "),
                             ::rte_strerror(rte_errno), caught.tail())};
  }
  if (!given(needs.extra, "--log-level")) ::rte_log_set_global_level(RTE_LOG_ERR);
  state = wanted;
  return *state;
}

CaughtOutput::CaughtOutput(bool active) {
  if (!active) return;
  file_ = ::memfd_create("dpdk-output", MFD_CLOEXEC);
  if (file_ < 0) return;
  std::fflush(stdout);
  std::fflush(stderr);
  for (int i = 0; i < 2; ++i) {
    saved_[i] = ::dup(i + 1);
    if (saved_[i] >= 0) ::dup2(file_, i + 1);
  }
}

CaughtOutput::~CaughtOutput() {
  std::fflush(stdout);
  std::fflush(stderr);
  for (int i = 0; i < 2; ++i) {
    if (saved_[i] < 0) continue;
    ::dup2(saved_[i], i + 1);
    ::close(saved_[i]);
  }
  if (file_ >= 0) ::close(file_);
}

std::string CaughtOutput::tail() const {
  static constexpr std::ptrdiff_t kMostLines = 5;
  if (file_ < 0) return {};
  std::fflush(stdout);
  std::fflush(stderr);
  std::string text(static_cast<std::size_t>(std::max<off_t>(0, ::lseek(file_, 0, SEEK_CUR))), '\0');
  const ssize_t bytes = ::pread(file_, text.data(), text.size(), 0);
  std::string_view said(text.data(), bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
  said = said.substr(0, said.find("\nUsage:"));  // EAL prints the problem before its list of all arguments
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at < said.size();) {
    const std::string_view line = said.substr(at, said.find('\n', at) - at);
    if (!line.empty() && std::ranges::find(lines, line) == lines.end()) lines.push_back(line);
    at += line.size() + 1;
  }
  if (std::ssize(lines) > kMostLines) lines.erase(lines.begin(), lines.end() - kMostLines);
  return lines.empty() ? "" : fmt::format(": {}", fmt::join(lines, "; "));
}

void register_this_thread() noexcept {
  struct Registration {
    Registration() noexcept : ours(::rte_lcore_id() == LCORE_ID_ANY && ::rte_thread_register() == 0) {}
    ~Registration() {
      if (ours) ::rte_thread_unregister();
    }
    bool ours;
  };
  thread_local const Registration registration;
  (void)registration;
}

}  // namespace parshall::dpdk
