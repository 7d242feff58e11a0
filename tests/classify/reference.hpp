// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "classify/samples.hpp"

namespace parshall::reference {

/// What reference/make_reference.py wrote: data sets, and what scikit-learn and Weka make of them.
inline const std::vector<std::string> kSets = {"two", "twelve", "mixed", "mislabelled", "missing", "one_packet"};

/// Further ones for trees, each of which turns on a detail of J48's rules.
inline const std::vector<std::string> kTreeSets = {"varied_220", "varied_36",  "varied_264",
                                                   "varied_266", "varied_310", "varied_389"};

Samples samples_of(const std::string& set);

/// The cells of each line of SET.ANSWERS.csv.
std::vector<std::vector<std::string>> answers_of(const std::string& set, const std::string& answers);

}  // namespace parshall::reference
