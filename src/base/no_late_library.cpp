// SPDX-License-Identifier: Apache-2.0
#include "base/late_library.hpp"

namespace parshall {

LateLibrary::LateLibrary(const char* soname, const char*) : soname_(soname) {}

void* LateLibrary::find(const char*) { return nullptr; }

}  // namespace parshall
