// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include "classify/sample_csv.hpp"
#include "targets.hpp"

namespace parshall::fuzz {

/// Input: samples as CSV.
void fuzz_samples(Bytes input) {
  std::istringstream csv{std::string(text_of(input))};
  const auto file = parse_samples(csv, "fuzz.csv");
  if (!file) return require(file.error().message.starts_with("fuzz.csv, line "));
  const Samples& samples = file->samples;
  require(samples.packets >= 1 && samples.packets <= kMostFirstPackets);
  require(samples.sizes.size() == samples.size() * samples.packets && samples.captures.size() == samples.size());
  require(file->folds.empty() || file->folds.size() == samples.size());
  for (std::size_t flow = 0; flow < samples.size(); ++flow)
    require(samples.classes[flow] < samples.class_names.size() &&
            samples.captures[flow] < samples.capture_names.size());

  std::ostringstream written;
  write_samples(written, samples, file->folds);
  std::istringstream reread(written.str());
  const auto again = parse_samples(reread, "again.csv");
  require(again.has_value());
  require(again->samples.packets == samples.packets && again->samples.sizes == samples.sizes);
  require(again->samples.classes == samples.classes && again->samples.captures == samples.captures);
  require(again->samples.class_names == samples.class_names && again->samples.capture_names == samples.capture_names);
  require(again->folds == file->folds);
}

}  // namespace parshall::fuzz
