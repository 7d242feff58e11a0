// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "pipeline/output/exporter.hpp"
#include "pipeline/output/output_needs.hpp"

namespace parshall {

/// Kind of exporter, with its name for outputs and `--format`.
struct ExporterEntry {
  std::string_view name;
  std::string_view help;
  ExporterTakes takes;
  std::unique_ptr<Exporter> (*make)(std::unique_ptr<Output> output);  ///< null: it opens its target itself
  Result<std::unique_ptr<Exporter>> (*open)(const std::string& target) = nullptr;
  Result<OutputNeeds> (*needs)(const std::string& target) = nullptr;  ///< for kinds that open their target themselves
  std::string (*shown)(const std::string& target) = nullptr;  ///< its target without secrets; null: all may be shown
  std::optional<Error> (*problem)() = nullptr;  ///< why it cannot be used here; loads its library; null: it can
};

/// Returns all kinds, one line each.
std::span<const ExporterEntry> exporter_registry() noexcept;

/// Opens an exporter. The target is a file, or whatever the kind uses.
Result<std::unique_ptr<Exporter>> open_exporter(const ExporterEntry& entry, const std::string& target);

/// Returns what open_exporter() and, later, the exporter need from the system. Fails on a target that is invalid for
/// the kind.
Result<OutputNeeds> needs_of(const ExporterEntry& entry, const std::string& target);

/// Returns the kind of that name, or null.
const ExporterEntry* find_exporter(std::string_view name) noexcept;

}  // namespace parshall
