// SPDX-License-Identifier: Apache-2.0
#include "base/late_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace parshall {
namespace {

/// Names the libraries to tools that make packages, in the program itself, as the linker names those that are linked.
/// Source: "ELF dlopen() metadata", uapi-group.org/specifications/specs/elf_dlopen_metadata.
struct Note {
  std::uint32_t name_bytes = sizeof name, text_bytes = sizeof text, type = 0x407c0c0a;
  char name[4] = "FDO";
  char text[sizeof PARSHALL_LATE_NOTE] = PARSHALL_LATE_NOTE;
};
[[gnu::used, gnu::section(".note.dlopen"), gnu::aligned(4)]] const Note kNote;

/// Returns Debian's name for the package of a library: libcurl4 for libcurl.so.4. OpenSSL's two libraries are in one
/// package.
std::string package_of(std::string soname) {
  constexpr std::string_view kCrypto = "libcrypto.", kSsl = "libssl.";
  if (soname.starts_with(kCrypto)) soname.replace(0, kCrypto.size(), kSsl);
  constexpr std::string_view kMiddle = ".so.";
  if (const std::size_t at = soname.find(kMiddle); at != soname.npos) soname.erase(at, kMiddle.size());
  return soname;
}

}  // namespace

LateLibrary::LateLibrary(const char* soname, const char* user)
    : soname_(soname), handle_(::dlopen(soname, RTLD_NOW | RTLD_LOCAL)) {
  if (handle_ == nullptr)
    problem_ = Error{fmt::format("{} needs {}, which cannot be loaded: install it (on Debian {}) and start anew: {}",
                                 user, soname, package_of(soname), ::dlerror())};
}

void* LateLibrary::find(const char* name) {
  if (handle_ == nullptr) return nullptr;
  void* const found = ::dlsym(handle_, name);
  if (found == nullptr && !problem_)
    problem_ = Error{
        fmt::format("{} has no function {}: install the version that this program was built with", soname_, name)};
  return found;
}

}  // namespace parshall
