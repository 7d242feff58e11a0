// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string>

namespace parshall {

/// Models of each kind, and what to make wrong ones of.
inline const std::string kBayes = R"(version = 1
model = "naive-bayes"
packets = 2
longest = 1500
reject = 0.5
classes = ["dns", "web"]
[training]
date = "2026-11-22"
command = "parshall train"
captures = 3
flows = [10, 20]
[accuracy]
folds = 5
accuracy = 0.75
precision = [0.5, "none"]
recall = [1, 0]
[naive-bayes]
[[naive-bayes.class]]
name = "dns"
mean = [60, "none"]
variance = [4, "none"]
[[naive-bayes.class]]
name = "web"
mean = [52, 1400]
variance = [4, 900]
)";
inline const std::string kTree = R"(version = 1
model = "c45"
packets = 2
longest = 1500
reject = 0
classes = ["dns", "web"]
[training]
date = ""
command = ""
captures = 0
flows = [10, 20]
[c45]
nodes = [
  {packet = 1, size = 60, up_to = 1, above = 2},
  {flows = {"dns" = 9.5}},
  {packet = 2, size = 90, up_to = 3, above = 4},
  {flows = {"web" = 1, "dns" = 2}},
  {flows = {"web" = 17}},
]
)";

inline const std::string kForest = R"(version = 1
model = "forest"
packets = 2
longest = 1500
reject = 0.5
classes = ["dns", "web"]
[training]
date = ""
command = ""
captures = 0
flows = [10, 20]
[forest]
[[forest.tree]]
nodes = [{flows = {"dns" = 9.5}}]
[[forest.tree]]
nodes = [
  {packet = 2, size = 90, up_to = 1, above = 2},
  {flows = {"web" = 1, "dns" = 2}},
  {flows = {"web" = 17}},
]
)";

/// The text with others in place of a line, or none.
inline std::string with(std::string text, std::size_t number, const std::string& lines) {
  std::size_t from = 0;
  while (--number != 0) from = text.find('\n', from) + 1;
  return text.replace(from, text.find('\n', from) + 1 - from, lines.empty() ? "" : lines + "\n");
}

}  // namespace parshall
