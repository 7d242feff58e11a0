// SPDX-License-Identifier: Apache-2.0
#include "parshall/wire_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "classify/model_file.hpp"
#include "parshall/marks.hpp"
#include "parshall/sources/source_kind.hpp"

namespace parshall {
namespace {

/// Returns one name per device: a vdev without its arguments, or its interface; a PCI device without domain 0.
std::string device_of(std::string device) {
  if (const auto iface = device.find("iface="); device.starts_with("vdev:") && iface != std::string::npos)
    return device.substr(iface + 6, device.find(',', iface) - iface - 6);
  if (device.starts_with("vdev:")) return device.substr(0, device.find(','));
  if (device.find(':') == std::string::npos) return device;
  std::ranges::transform(device, device.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return device.starts_with("0000:") ? device.substr(5) : device;
}

Result<ModelFile> model_of(const std::string& path, const std::string& text) {
  return text.empty() ? read_model_file(path) : parse_model(text, path);
}

}  // namespace

std::optional<Error> wire_model(const Plan& plan, const PlanTexts& texts, StatisticOptions& options,
                                std::vector<std::string>& columns) {
  const std::string& path = plan.flows.model;
  if (path.empty()) {
    if (plan.flows.classifiers != 0) return Error{"--classifiers tell classes by a model: name one with --model FILE"};
    return std::nullopt;
  }
  if (plan.flows.packets_only) return Error{"--packets-only keeps no flows: leave out --model " + path};
  auto model = model_of(path, texts.model);
  if (!model) {
    const bool is_there = !texts.model.empty() || std::filesystem::exists(path);
    return Error{is_there ? "--model " + model.error().message
                          : fmt::format("--model {}: there is no such file (parshall train writes models)", path)};
  }
  options.classifier = classifier_of(*std::move(model));
  if (plan.flows.classifiers != 0) options.classes_told_by = ToldBy::other_threads;
  add_class_columns(*options.classifier, columns);
  return std::nullopt;
}

void add_class_columns(const Classifier& classifier, std::vector<std::string>& columns) {
  if (std::ranges::find(columns, FlowClass::kName) != columns.end()) return;
  columns.emplace_back(FlowClass::kName);
  if (classifier.knows_ports() && std::ranges::find(columns, FlowClass::kBasisName) == columns.end())
    columns.emplace_back(FlowClass::kBasisName);
}

std::optional<Error> wire_forwarding(const Plan& plan, const Classifier* classifier, SessionOptions& session) {
  const SourcePlan& source = plan.source;
  if (source.forward.empty()) return std::nullopt;
  const auto problem = [&](const char* what) { return Error{fmt::format("--forward {}: {}", source.forward, what)}; };
  if (!kind_of(source).is_link) return problem("packets go on from an interface or device: name it with -i");
  if (device_of(source.interface) == device_of(source.forward))
    return problem("that is -i itself: name the wire's other end");
  if (plan.flows.packets_only) return problem("--packets-only keeps no flows to mark: leave it out");
  if (classifier == nullptr) return problem("name what tells the classes to mark: --model FILE (parshall train)");
  if (session.threads.model != ThreadModel::run_to_completion)
    return problem("a packet goes on with the worker that took it: leave out --threads pipeline or cooperative");
  if (plan.flows.classifiers != 0)
    return problem("a packet goes on with the class that its worker tells: leave out --classifiers");
  if (session.limits.packets != 0) return problem("a wire passes all packets: leave out --count");
  auto marks = plan_marks(source.marks, classifier->classes(), classifier->classes_by_sizes());
  if (!marks) return marks.error();
  session.threads.marking = *std::move(marks);
  session.workers *= 2;
  return std::nullopt;
}

}  // namespace parshall
