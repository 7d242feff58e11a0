// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "targets.hpp"

namespace {

using namespace parshall::fuzz;
namespace fs = std::filesystem;

/// Of the file that is being replayed: who ends the program does not say.
char replayed[4096] = "";

extern "C" void say_which(int signal) {
  constexpr std::string_view kFound = "fuzz_replay: this input ends the program: ";
  const auto write = [](const char* text, std::size_t bytes) {
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text, bytes);
  };
  write(kFound.data(), kFound.size());
  write(replayed, std::strlen(replayed));
  write("\n", 1);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

void replay(const Target& target, const fs::path& path) {
  const std::string name = path.string();
  std::strncpy(replayed, name.c_str(), sizeof replayed - 1);
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  const Block block({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
  target.run(block.bytes());
}

}  // namespace

/// fuzz_replay CORPUS [TARGET...]: runs every target, or those named, with each file of CORPUS/TARGET. A target without
/// files fails: its corpus is part of it.
int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "fuzz_replay CORPUS [TARGET...]: runs each target with the files of CORPUS/TARGET\n");
    return 2;
  }
  for (const int signal : {SIGABRT, SIGSEGV, SIGFPE, SIGBUS, SIGILL, SIGALRM}) std::signal(signal, say_which);
  const std::vector<std::string_view> wanted(argv + 2, argv + argc);
  for (const std::string_view name : wanted)
    if (std::find_if(std::begin(kTargets), std::end(kTargets), [&](const Target& t) { return t.name == name; }) ==
        std::end(kTargets)) {
      std::fprintf(stderr, "fuzz_replay: no target %s\n", std::string(name).c_str());
      return 2;
    }
  constexpr unsigned kLongestS = 60;  // of one file, under any sanitizer
  bool has_all = true;
  for (const Target& target : kTargets) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), target.name) == wanted.end()) continue;
    const std::vector<fs::path> files = files_in(fs::path(argv[1]) / target.name);
    for (const fs::path& file : files) {
      ::alarm(kLongestS);
      replay(target, file);
    }
    ::alarm(0);
    std::printf("%-12s %zu files\n", std::string(target.name).c_str(), files.size());
    if (!files.empty()) continue;
    has_all = false;
    std::fprintf(stderr, "fuzz_replay: %s has no files in %s\n", std::string(target.name).c_str(), argv[1]);
  }
  return has_all ? 0 : 1;
}
