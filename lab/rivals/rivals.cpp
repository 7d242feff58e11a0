// SPDX-License-Identifier: Apache-2.0
#include "lab/rivals/rivals.hpp"

#include "engine/thread_models.hpp"
#include "lab/rivals/classifier_threads.hpp"
#include "lab/rivals/hashes/registry.hpp"
#include "lab/rivals/maps/tables.hpp"
#include "lab/rivals/mona/mona_policy.hpp"
#include "pipeline/flow/hashes/registry.hpp"

namespace parshall::lab {

void add_rivals() {
  static constexpr ThreadModelEntry kModels[] = {
      {"cooperative", "both stages alternate on one thread per worker", ThreadModel::cooperative}};
  add_tables(rival_tables());
  add_hashes(rival_hashes());
  add_thread_models(kModels);
  add_overload_policies(mona_policies());
  set_class_helpers_maker([](std::shared_ptr<const Classifier> classifier, std::size_t threads,
                             Waiting waiting) -> std::unique_ptr<ClassHelpers> {
    return std::make_unique<ClassifierThreads>(std::move(classifier), threads, waiting);
  });
}

}  // namespace parshall::lab
