// SPDX-License-Identifier: Apache-2.0
#include "parshall/training_samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>
#include <thread>
#include <unordered_set>

#include "classify/labels.hpp"
#include "engine/flow_merger.hpp"
#include "engine/session.hpp"
#include "pipeline/capture/capture_parser.hpp"
#include "pipeline/capture/compressed/formats.hpp"
#include "pipeline/capture/pcap_file.hpp"

namespace parshall {
namespace {

namespace fs = std::filesystem;

bool is_compressed(const std::string& path) {
  std::error_code problem;
  if (!fs::is_regular_file(path, problem)) return false;  // reading a pipe here would take bytes from its reader
  std::array<std::uint8_t, kMagicBytes> head{};
  std::ifstream(path, std::ios::binary).read(reinterpret_cast<char*>(head.data()), head.size());
  return compressed_format_of(head) != nullptr;
}

/// A capture file. Files found in a folder may be anything, and are left out if they are no capture.
struct CaptureFile {
  std::string path;
  bool was_named;
};

Result<std::vector<CaptureFile>> captures_of(const std::vector<std::string>& paths) {
  std::vector<CaptureFile> captures;
  for (const std::string& path : paths) {
    std::error_code problem;
    if (!fs::is_directory(path, problem)) {
      captures.push_back({path, true});
      continue;
    }
    const auto first = static_cast<std::ptrdiff_t>(captures.size());
    for (fs::recursive_directory_iterator at(path, problem), end; at != end && !problem; at.increment(problem))
      if (at->is_regular_file(problem)) captures.push_back({at->path().string(), false});
    if (problem) return Error{fmt::format("cannot read the folder {}: {}", path, problem.message())};
    std::ranges::sort(captures.begin() + first, captures.end(), {}, &CaptureFile::path);
  }
  return captures;
}

struct Rule {
  std::string class_name;
  BpfFilter filter;
};

Result<std::vector<Rule>> rules_of(const std::vector<std::string>& texts) {
  std::vector<Rule> rules;
  for (const std::string& text : texts) {
    const auto equals = text.find('=');
    if (equals == 0 || equals == std::string::npos)
      return Error{fmt::format("--rule \"{}\": write CLASS=FILTER, such as \"DNS=port 53\"", text)};
    if (const auto problem = class_name_problem(text.substr(0, equals)))
      return Error{fmt::format("--rule \"{}\": {}", text, problem->message)};
    auto filter = BpfFilter::compile(text.substr(equals + 1));
    if (!filter) return Error{fmt::format("--rule \"{}\": {}", text, filter.error().message)};
    rules.push_back({text.substr(0, equals), *std::move(filter)});
  }
  return rules;
}

Result<Labels> labels_of(const TrainingInput& input) {
  const BadLines bad_lines = input.strict ? BadLines::refuse : BadLines::skip;
  if (!input.labels_text) return Labels::read(input.labels, bad_lines);
  std::istringstream list(*input.labels_text);
  return Labels::parse(list, "labels", bad_lines);
}

/// Adds the flows of one capture after another.
class Gatherer {
 public:
  Gatherer(const TrainingInput& input, std::optional<Labels> labels, std::vector<Rule> rules,
           const std::function<bool()>& stop)
      : input_(input), labels_(std::move(labels)), rules_(std::move(rules)), stop_(stop) {
    flows_.samples.packets = input.packets;
    if (!labels_) return;
    flows_.contradictory_labels = labels_->contradictory();
    if (!labels_->note().empty()) flows_.notes.push_back(labels_->note());
    if (!labels_->warning().empty()) flows_.warnings.push_back(labels_->warning());
  }

  std::optional<Error> add(const CaptureFile& capture) {
    capture_ = &capture;
    name_ = fs::path(capture.path).filename().string();
    labelled_.clear();
    if (labels_)
      if (auto problem = read(std::nullopt, [&](const FlowKey& key) { return labels_->find(name_, key); }))
        return problem;
    for (const Rule& rule : rules_)
      if (auto problem =
              read(rule.filter, [&](const FlowKey&) { return std::optional<std::string_view>(rule.class_name); }))
        return problem;
    return std::nullopt;
  }

  TrainingFlows take() { return std::move(flows_); }

 private:
  using ClassOf = std::function<std::optional<std::string_view>(const FlowKey&)>;

  std::optional<Error> read(std::optional<BpfFilter> filter, const ClassOf& class_of) {
    auto sources = open_capture_file(capture_->path, 1);
    if (!sources) {
      if (capture_->was_named) return sources.error();
      flows_.warnings.push_back(sources.error().message + "; it is left out");
      return std::nullopt;
    }
    if (flows_.captures.empty() || flows_.captures.back() != capture_->path) flows_.captures.push_back(capture_->path);
    auto schema = Schema::make(std::array{fmt::format("first_sizes_{}", input_.packets)}, {});
    if (!schema) return schema.error();
    Session session({.description = capture_->path,
                     .sources = *std::move(sources),
                     .dealing = Dealing::all_to_each,
                     .owner = nullptr,
                     .device = nullptr},
                    options(std::move(filter)), *std::move(schema));
    if (auto problem = session.start()) return problem;
    while (!session.finished()) {
      if (stop_()) return Error{kTrainingStopped};
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    std::unordered_set<std::string> seen;
    session.final_report().flows([&](const ReportFlow& flow) { add_flow(flow, class_of, seen); });
    labelled_.merge(seen);
    if (const auto damage = session.damage()) flows_.warnings.push_back(damage->message);
    return std::nullopt;
  }

  /// Returns options with a table no larger than the capture can fill.
  SessionOptions options(std::optional<BpfFilter> filter) const {
    constexpr std::uint64_t kLeastPlain = 16 + 40, kMostFlows = 1 << 22, kFewFlows = 1 << 12;
    constexpr std::uint64_t kLeastCompressed = 2;  // compression cannot shorten a new flow's addresses and ports
    const std::uint64_t least_record = is_compressed(capture_->path) ? kLeastCompressed : kLeastPlain;
    std::error_code problem;
    const std::uint64_t bytes = fs::file_size(capture_->path, problem);
    SessionOptions options;
    options.table = *find_table("bucketed", Identity::exact);
    options.filter = std::move(filter);
    options.snapshots = false;
    options.stage.flows = std::clamp(problem ? kMostFlows : bytes / least_record, kFewFlows, kMostFlows);
    options.stage.timeouts.idle_ns = input_.idle_ns;
    return options;
  }

  /// Adds a flow. A rule sees all flows again, so flows that already have a class keep it.
  void add_flow(const ReportFlow& flow, const ClassOf& class_of, std::unordered_set<std::string>& seen) {
    const std::string key = key_text(flow.record.key);
    if (labelled_.contains(key)) return;
    const auto class_name = class_of(flow.record.key);
    if (!class_name) {
      ++flows_.without_label;
      return;
    }
    seen.insert(key);
    const bool is_short = !flow.values.back().present();
    const FlowKey& flow_key = flow.record.key;
    flows_.ports.add({flow_key.protocol, std::min(flow_key.src_port(), flow_key.dst_port())}, is_short, *class_name,
                     name_);
    if (is_short) {
      ++flows_.too_short;
      return;
    }
    std::array<std::uint16_t, kMostFirstPackets> sizes;
    for (std::size_t i = 0; i < input_.packets; ++i)
      sizes[i] =
          static_cast<std::uint16_t>(std::min<std::uint64_t>(flow.values[kBaseColumns + i].as_unsigned(), 0xffff));
    flows_.samples.add(std::span(sizes).first(input_.packets), *class_name, name_);
  }

  const TrainingInput& input_;
  std::optional<Labels> labels_;
  std::vector<Rule> rules_;
  const std::function<bool()>& stop_;
  TrainingFlows flows_;
  const CaptureFile* capture_ = nullptr;
  std::string name_;
  std::unordered_set<std::string> labelled_;
};

}  // namespace

std::optional<Error> rules_problem(const std::vector<std::string>& rules) {
  const auto parsed = rules_of(rules);
  return parsed ? std::nullopt : std::optional(parsed.error());
}

Result<TrainingFlows> gather_samples(const TrainingInput& input, const std::function<bool()>& stop) {
  auto captures = captures_of(input.captures);
  if (!captures) return captures.error();
  if (captures->empty()) return Error{"there is no capture to learn from: -r FILE or FOLDER"};
  auto rules = rules_of(input.rules);
  if (!rules) return rules.error();
  std::optional<Labels> labels;
  if (input.has_labels()) {
    auto read = labels_of(input);
    if (!read) return read.error();
    labels.emplace(*std::move(read));
  }
  Gatherer gatherer(input, std::move(labels), *std::move(rules), stop);
  for (const CaptureFile& capture : *captures)
    if (auto problem = gatherer.add(capture)) return *problem;
  return gatherer.take();
}

}  // namespace parshall
