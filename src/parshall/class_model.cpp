// SPDX-License-Identifier: Apache-2.0
#include "parshall/class_model.hpp"

#include <utility>

#include "classify/decision_tree.hpp"
#include "classify/model_file.hpp"
#include "classify/naive_bayes.hpp"
#include "parshall/training.hpp"

namespace parshall {

static_assert(ClassModel::kUnknown == kUnknownClass);

struct ClassModel::State {
  ModelFile file;
  std::string text;
  std::vector<std::uint64_t> confusion;
};

Result<ClassModel> ClassModel::of(ModelFile file, std::vector<std::uint64_t> confusion) {
  auto text = model_text(*file.model, file.origin, file.ports);
  if (!text) return text.error();
  return ClassModel(std::make_shared<const State>(State{std::move(file), *std::move(text), std::move(confusion)}));
}

Result<ClassModel> ClassModel::train(const TrainingPlan& plan, const std::string& command, const TrainingWatch& watch) {
  if (auto problem = problem_of(plan)) return *std::move(problem);
  const auto set = training_set(plan, watch);
  if (!set) return set.error();
  auto training = parshall::train(*set, plan, command, watch);
  if (!training) return training.error();
  const Confusion& from = training->validation.confusion;
  std::vector<std::uint64_t> confusion;
  for (std::size_t of = 0; of < from.classes(); ++of)
    for (std::size_t taken_for = 0; taken_for <= from.classes(); ++taken_for)
      confusion.push_back(from.count(static_cast<ClassId>(of),
                                     taken_for == from.classes() ? kUnknownClass : static_cast<ClassId>(taken_for)));
  return ClassModel::of(std::move(training->file), std::move(confusion));
}

Result<ClassModel> ClassModel::read(const std::string& path) {
  auto file = read_model_file(path);
  if (!file) return file.error();
  return of(*std::move(file), {});
}

Result<ClassModel> ClassModel::parse(const std::string& text, const std::string& name) {
  auto file = parse_model(text, name);
  if (!file) return file.error();
  return of(*std::move(file), {});
}

const std::string& ClassModel::text() const noexcept { return state_->text; }
std::string_view ClassModel::kind() const noexcept { return state_->file.model->kind(); }
std::size_t ClassModel::packets() const noexcept { return state_->file.model->packets(); }
std::uint16_t ClassModel::longest() const noexcept { return state_->file.model->longest(); }
double ClassModel::reject() const noexcept { return state_->file.model->reject(); }
std::span<const std::string> ClassModel::classes() const noexcept { return state_->file.model->classes(); }
const ModelOrigin& ClassModel::origin() const noexcept { return state_->file.origin; }
std::span<const std::uint64_t> ClassModel::confusion() const noexcept { return state_->confusion; }

std::vector<std::uint16_t> ClassModel::predict(std::span<const std::uint16_t> sizes) const {
  const std::size_t flows = sizes.size() / packets();
  const Samples samples{.packets = packets(),
                        .sizes = {sizes.begin(), sizes.end()},
                        .classes = std::vector<ClassId>(flows),
                        .captures = {},
                        .class_names = {},
                        .capture_names = {}};
  return parshall::predict(*state_->file.model, samples);
}

std::optional<GaussianParameters> ClassModel::gaussian() const {
  const auto* const model = dynamic_cast<const NaiveBayes*>(state_->file.model.get());
  if (model == nullptr) return std::nullopt;
  GaussianParameters parameters;
  for (const NaiveBayes::Normal& normal : model->normals()) {
    parameters.means.push_back(normal.mean);
    parameters.variances.push_back(normal.variance);
  }
  parameters.priors.assign(model->priors().begin(), model->priors().end());
  return parameters;
}

std::optional<TreeParameters> ClassModel::tree() const {
  const auto* const model = dynamic_cast<const DecisionTree*>(state_->file.model.get());
  if (model == nullptr) return std::nullopt;
  const auto nodes = model->nodes();
  const std::size_t classes = model->classes().size();
  TreeParameters tree;
  tree.flows.resize(nodes.size() * classes);
  for (std::size_t at = 0; at < nodes.size(); ++at) {
    const DecisionTree::Node& node = nodes[at];
    tree.packets.push_back(node.packet);
    tree.up_to.push_back(node.up_to);
    tree.children.push_back(node.child);
    tree.classes.push_back(model->class_of(at));
    for (const DecisionTree::Weight& weight : node.weights) tree.flows[at * classes + weight.id] = weight.flows;
  }
  return tree;
}

}  // namespace parshall
