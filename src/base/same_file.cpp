// SPDX-License-Identifier: Apache-2.0
#include "base/same_file.hpp"

#include <sys/stat.h>

namespace parshall {

bool same_file(const std::string& input, const std::string& output) {
  struct stat in, out;
  return ::stat(input.c_str(), &in) == 0 && ::stat(output.c_str(), &out) == 0 && S_ISREG(out.st_mode) &&
         in.st_dev == out.st_dev && in.st_ino == out.st_ino;
}

}  // namespace parshall
