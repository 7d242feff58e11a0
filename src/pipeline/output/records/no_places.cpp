// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/records/places.hpp"

namespace parshall {

Result<std::shared_ptr<const Places>> Places::open(std::span<const std::string>) {
  return Error{"--geo: this build does not have libmaxminddb: install libmaxminddb-dev and build again"};
}

}  // namespace parshall
