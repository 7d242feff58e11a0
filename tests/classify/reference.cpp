// SPDX-License-Identifier: Apache-2.0
#include "reference.hpp"

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "classify/sample_csv.hpp"

namespace parshall::reference {
namespace {

const std::string kFolder = REFERENCE_FOLDER "/";

}  // namespace

Samples samples_of(const std::string& set) {
  auto file = read_samples(kFolder + set + ".csv");
  if (!file) throw std::runtime_error(file.error().message);
  return std::move(file->samples);
}

std::vector<std::vector<std::string>> answers_of(const std::string& set, const std::string& answers) {
  std::ifstream file(kFolder + set + "." + answers + ".csv");
  std::vector<std::vector<std::string>> lines;
  for (std::string line; std::getline(file, line);) {
    std::istringstream cells(line);
    lines.emplace_back();
    for (std::string cell; std::getline(cells, cell, ',');) lines.back().push_back(cell);
  }
  if (lines.empty()) throw std::runtime_error("no answers for " + set + ": run reference/make_reference.py");
  return lines;
}

}  // namespace parshall::reference
