// SPDX-License-Identifier: Apache-2.0
#include "classify/model_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "base/parse_toml.hpp"
#include "classify/model_reader.hpp"
#include "classify/port_classifier.hpp"
#include "classify/registry.hpp"
#include "classify/toml_text.hpp"

namespace parshall {
namespace {

constexpr std::uint64_t kVersion = 1;
constexpr auto kAnyCount = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
constexpr std::string_view kTrainingKeys[] = {"date", "command", "captures", "flows"},
                           kAccuracyKeys[] = {"folds", "accuracy", "precision", "recall"};
constexpr ModelReader::Range kShare{0, 1};

/// Checks the version first, because a file of another version may have any contents.
void check_version(ModelReader& reader) {
  const toml::node* const version = reader.wanted(reader.file(), "version");
  // Rejects numbers with a decimal point: toml++ converts them to integers, which is undefined in C++ for large values.
  if (version != nullptr && version->value_exact<std::int64_t>() != std::int64_t{kVersion})
    reader.complain(*version,
                    fmt::format("this program reads only models of version {}: train the model again", kVersion));
}

const ModelKind* read_kind(ModelReader& reader) {
  const ModelKind* const kind = find_model_kind(reader.text(reader.file(), "model"));
  if (kind == nullptr) {
    std::vector<std::string_view> names;
    for (const ModelKind& known : model_kinds()) names.push_back(known.name);
    if (const toml::node* const node = reader.file().get("model"))
      reader.complain(*node, fmt::format("model must be one of {}", fmt::join(names, ", ")));
    return nullptr;
  }
  const std::string_view keys[] = {"version",  "model",    "packets", "longest",       "reject",  "classes",
                                   "training", "accuracy", "ports",   kPortClassesKey, kind->name};
  reader.check_keys(reader.file(), keys);
  return kind;
}

std::vector<std::string> read_classes(ModelReader& reader) {
  std::vector<std::string> classes = reader.texts(reader.file(), "classes");
  const toml::node* const node = reader.wanted(reader.file(), "classes");
  if (node == nullptr || reader.problem()) return {};
  if (classes.empty() || classes.size() > kMostClasses) {
    reader.complain(*node, fmt::format("there are {} classes; 1 to {} are possible", classes.size(), kMostClasses));
    return {};
  }
  for (const std::string& name : classes)
    if (const auto wrong = class_name_problem(name)) reader.complain(*node, wrong->message);
  std::vector<std::string> ordered = classes;
  std::ranges::sort(ordered);
  if (const auto twice = std::ranges::adjacent_find(ordered); twice != ordered.end())
    reader.complain(*node, fmt::format("two classes have the name {}: give each its own name", toml_string(*twice)));
  return classes;
}

/// Reads what only models by ports have.
bool read_ports(ModelReader& reader) {
  const toml::node* const node = reader.file().get("ports");
  if (node != nullptr && !node->is_boolean()) reader.complain(*node, "ports must be true or false");
  return node != nullptr && node->value_or(false);
}

ModelOrigin read_origin(ModelReader& reader, std::size_t classes) {
  ModelOrigin origin;
  if (const toml::table* const from = reader.table(reader.file(), "training")) {
    reader.check_keys(*from, kTrainingKeys);
    origin.date = reader.text(*from, "date");
    origin.command = reader.text(*from, "command");
    origin.captures = reader.count(*from, "captures", 0, kAnyCount);
    origin.flows = reader.counts(*from, "flows", classes);
  }
  if (!reader.file().contains("accuracy")) return origin;
  if (const toml::table* const from = reader.table(reader.file(), "accuracy")) {
    reader.check_keys(*from, kAccuracyKeys);
    origin.accuracy = {
        .folds = static_cast<std::uint32_t>(reader.count(*from, "folds", 2, std::numeric_limits<std::uint32_t>::max())),
        .accuracy = reader.number(*from, "accuracy", kShare),
        .precision = reader.numbers(*from, "precision", classes, kShare),
        .recall = reader.numbers(*from, "recall", classes, kShare)};
  }
  return origin;
}

Result<ModelFile> read(ModelReader& reader) {
  check_version(reader);
  const ModelKind* const kind = reader.problem() ? nullptr : read_kind(reader);
  if (kind == nullptr) return *reader.problem();
  const toml::table& file = reader.file();
  ModelHead head{.packets = reader.count(file, "packets", 1, kMostFirstPackets),
                 .longest = static_cast<std::uint16_t>(reader.count(file, "longest", 1, 65535)),
                 .reject = reader.number(file, "reject", kShare),
                 .classes = read_classes(reader),
                 .ports = read_ports(reader)};
  if (head.ports && head.packets <= kPortValues)
    reader.complain(*file.get("packets"),
                    fmt::format("packets must be above {}, since ports are so many of them", kPortValues));
  if (reader.problem()) return *reader.problem();
  ModelOrigin origin = read_origin(reader, head.classes.size());
  PortClasses ports = read_port_classes(reader);
  std::unique_ptr<Model> model = kind->read(std::move(head), reader);
  if (reader.problem()) return *reader.problem();
  return ModelFile{std::move(model), std::move(origin), std::move(ports)};
}

Error unreadable(const std::string& path) {
  return {fmt::format("cannot read a model from {}: {}; `parshall train` writes models", path, std::strerror(errno))};
}

}  // namespace

std::string to_toml(const Model& model, const ModelOrigin& origin, const PortClasses& ports) {
  std::vector<std::string> classes;
  for (const std::string& name : model.classes()) classes.push_back(toml_string(name));
  std::string toml = fmt::format(
      "# Classifies a flow by the sizes of its first packets.\n"
      "version = {}\n"
      "model = {}\n"
      "packets = {}\n"
      "longest = {}\n"
      "reject = {}\n"
      "{}"
      "classes = [{}]\n"
      "\n"
      "[training]\n"
      "date = {}\n"
      "command = {}\n"
      "captures = {}\n"
      "flows = [{}]\n",
      kVersion, toml_string(model.kind()), model.packets(), model.longest(), model.reject(),
      model.begins_with_ports() ? "ports = true  # the first two of the packets stand for port and protocol\n" : "",
      fmt::join(classes, ", "), toml_string(origin.date), toml_string(origin.command), origin.captures,
      fmt::join(origin.flows, ", "));
  const ModelAccuracy& accuracy = origin.accuracy;
  if (accuracy.folds != 0)
    toml += fmt::format(
        "\n"
        "# On captures that it was not trained on. \"{}\": no flow was predicted to be of that class, or none was.\n"
        "[accuracy]\n"
        "folds = {}\n"
        "accuracy = {}\n"
        "precision = {}\n"
        "recall = {}\n",
        kNone, accuracy.folds, accuracy.accuracy, listed(accuracy.precision), listed(accuracy.recall));
  return toml + to_toml(ports) + "\n" + model.parameters();
}

Result<ModelFile> parse_model(const std::string& text, const std::string& name) {
  if (text.size() > kMostModelBytes)
    return Error{fmt::format("{} is larger than {} MB, so it is not a model", name, kMostModelBytes >> 20)};
  const auto file = parse_toml(text, name);
  if (!file) return Error{file.error().message + "; correct it, or train the model again"};
  ModelReader reader(name, *file);
  return read(reader);
}

Result<ModelFile> read_model_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return unreadable(path);
  std::string text(kMostModelBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return unreadable(path);
  text.resize(static_cast<std::size_t>(file.gcount()));
  return parse_model(text, path);
}

Result<std::unique_ptr<Model>> read_model(const std::string& path) {
  auto file = read_model_file(path);
  if (!file) return file.error();
  return std::move(file->model);
}

std::shared_ptr<const Classifier> classifier_of(ModelFile file) {
  if (file.ports.ports.empty()) return std::move(file.model);
  return std::make_shared<PortClassifier>(std::move(file.model), file.ports);
}

Result<std::string> model_text(const Model& model, const ModelOrigin& origin, const PortClasses& ports) {
  std::string toml = to_toml(model, origin, ports);
  if (const auto again = parse_model(toml, "the model as written"); !again) return again.error();
  return toml;
}

}  // namespace parshall
