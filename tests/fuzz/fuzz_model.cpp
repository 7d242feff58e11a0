// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "classify/model_file.hpp"
#include "targets.hpp"

namespace parshall::fuzz {
namespace {

bool is_class(ClassId id, const Model& model) { return id < model.classes().size() || id == kUnknownClass; }

/// Whatever the sizes are: a class that there is; probabilities that are such, and what predict() says of them.
void check_classes(const Model& model, Input& sizes) {
  constexpr std::size_t kAtOnce = 5;  // an odd number: several are told at once
  std::vector<std::uint16_t> all(kAtOnce * model.packets());
  for (std::uint16_t& size : all) size = static_cast<std::uint16_t>(sizes.number(2));
  std::vector<ClassId> ids(kAtOnce, kNotClassified);
  model.classify(all, ids);
  std::vector<double> probabilities(model.classes().size());
  for (std::size_t flow = 0; flow < kAtOnce; ++flow) {
    require(is_class(ids[flow], model));
    const auto of_flow = std::span(all).subspan(flow * model.packets(), model.packets());
    ClassId alone = kNotClassified;
    model.classify(of_flow, {&alone, 1});
    require(alone == ids[flow]);
    model.probabilities(of_flow, probabilities);
    double sum = 0;
    for (const double probability : probabilities) {
      require(probability >= 0 && probability <= 1 + 1e-9);
      sum += probability;
    }
    require(sum < 1 + 1e-6);
    require(is_class(most_likely(probabilities, model.reject()), model));
  }
}

}  // namespace

/// Input: sizes of packets, as many bytes as the first one says; then a model's TOML.
void fuzz_model(Bytes input) {
  Input in(input);
  const std::size_t bytes = in.byte();
  Input sizes(in.take(bytes));
  const auto file = parse_model(in.text(), "fuzz.toml");
  if (!file) return require(file.error().message.starts_with("fuzz.toml, line "));
  const Model& model = *file->model;
  require(model.packets() >= 1 && model.packets() <= kMostFirstPackets);
  require(!model.classes().empty() && model.classes().size() <= kMostClasses);
  require(file->origin.flows.size() == model.classes().size());
  check_classes(model, sizes);

  const std::string text = to_toml(model, file->origin, file->ports);
  auto again = parse_model(text, "again.toml");
  require(again.has_value());
  require(to_toml(*again->model, again->origin, again->ports) == text);

  const auto classifier = classifier_of(*std::move(again));
  for (const PortClass& each : file->ports.ports) {
    const ClassId id = classifier->ports()->find(each.key.protocol, each.key.port);
    require(id == kNotClassified || classifier->classes()[id] == each.class_name);
  }
}

}  // namespace parshall::fuzz
