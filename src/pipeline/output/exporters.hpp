// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "pipeline/output/exporter.hpp"
#include "pipeline/output/output_needs.hpp"

namespace parshall {

/// A kind of exporter, by the name that outputs and `--format` know it by.
struct ExporterEntry {
  std::string_view name;
  std::string_view help;
  ExporterTakes takes;
  std::unique_ptr<Exporter> (*make)(std::unique_ptr<Output> output);  ///< null: it opens its target itself
  Result<std::unique_ptr<Exporter>> (*open)(const std::string& target) = nullptr;
  Result<OutputNeeds> (*needs)(const std::string& target) = nullptr;  ///< of those that open it themselves
};

/// Every kind: one line each.
std::span<const ExporterEntry> exporter_registry() noexcept;

/// Its target is a file, or what the kind has else.
Result<std::unique_ptr<Exporter>> open_exporter(const ExporterEntry& entry, const std::string& target);

/// What open_exporter() will ask of the system, and the exporter later. Fails on a target that is none of its kind.
Result<OutputNeeds> needs_of(const ExporterEntry& entry, const std::string& target);

/// Null: there is none of that name.
const ExporterEntry* find_exporter(std::string_view name) noexcept;

}  // namespace parshall
