// SPDX-License-Identifier: Apache-2.0
// Executes the build for the best instruction set of this CPU: PREFIX/lib/parshall/ISA/NAME, for a launcher whose file
// is PREFIX/bin/NAME. It is linked statically, so that it only costs one more exec, and needs no library.
#include <sys/auxv.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

struct Isa {
  const char* name;
  bool is_there;  ///< supported by this CPU and its operating system
};

constexpr int kUsage = 2, kFailed = 1;

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

/// Returns this program's file; without /proc, from the path that it was started by.
std::string self() {
  char path[4096];
  const auto bytes = ::readlink("/proc/self/exe", path, sizeof(path));
  if (bytes > 0) return std::string(path, static_cast<std::size_t>(bytes));
  const auto* const started_by = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
  return started_by != nullptr && ::realpath(started_by, path) != nullptr ? path : "/";
}

}  // namespace

int main(int, char** argv) {
  __builtin_cpu_init();
  const Isa isas[] = {
      {"avx512", PARSHALL_AVX512_IS_THERE}, {"avx2", PARSHALL_AVX2_IS_THERE}, {"sse4.2", PARSHALL_SSE4_2_IS_THERE}};
  const std::string file = self(), name = file.substr(file.rfind('/') + 1);
  const std::string parts = folder_of(folder_of(file)) + "/lib/parshall/";
  const char* wanted = std::getenv("PARSHALL_ISA");
  if (wanted != nullptr && *wanted == '\0') wanted = nullptr;
  bool is_known = wanted == nullptr;
  std::string there;
  for (const Isa& isa : isas) {
    if (isa.is_there) there += (there.empty() ? "" : ", ") + std::string(isa.name);
    if (wanted != nullptr && std::strcmp(isa.name, wanted) != 0) continue;
    is_known = true;
    if (!isa.is_there) continue;
    const std::string program = parts + isa.name + "/" + name;
    ::execv(program.c_str(), argv);
    if (wanted != nullptr || errno != ENOENT) {
      std::fprintf(stderr, "%s: %s cannot be run: %s\n", name.c_str(), program.c_str(), std::strerror(errno));
      return kFailed;
    }
  }
  if (there.empty()) {
    std::fprintf(stderr, "%s: this CPU lacks x86-64-v2 (SSE4.2), which Parshall needs\n", name.c_str());
  } else if (!is_known) {
    std::fprintf(stderr, "%s: PARSHALL_ISA=%s is unknown; this CPU supports %s\n", name.c_str(), wanted, there.c_str());
    return kUsage;
  } else if (wanted != nullptr) {
    std::fprintf(stderr, "%s: this CPU does not support %s; it supports %s\n", name.c_str(), wanted, there.c_str());
  } else {
    std::fprintf(stderr, "%s: no build for this CPU (%s) is in %s; install Parshall again\n", name.c_str(),
                 there.c_str(), parts.c_str());
  }
  return kFailed;
}
