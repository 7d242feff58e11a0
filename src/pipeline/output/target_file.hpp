// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <ctime>
#include <memory>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "pipeline/output/output.hpp"

namespace parshall {

/// What is wrong with how the file is to be called.
std::optional<Error> target_problem(const std::string& target);

/// Whether it says when it is begun: such a file is called otherwise each time.
bool has_time(const std::string& target);

/// What a file that is begun then is called: %Y, %m, %d, %j, %H, %M and %S in the last part of its path are of that
/// time (UTC), as strftime() has them, %% is a %. Where target_problem() finds none.
std::string name_at(std::time_t time, const std::string& target);

/// The file of an output, which goes on after a disk was full. What is there is begun anew, unless its name has a time:
/// then the new one has a number behind its name (flows-20260102.csv, flows-20260102-2.csv), but where nothing is in
/// what is there.
Result<std::unique_ptr<Output>> open_target(const std::string& target);

}  // namespace parshall
