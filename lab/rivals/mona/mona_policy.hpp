// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "control/overload_policy.hpp"
#include "lab/rivals/mona/controller.hpp"

namespace parshall::lab {

/// MONA's controller as a policy: flows move from their state to lighter ones, and tasks follow the flows that are in
/// one of their states.
///
/// Source: Tangari et al., MONA, IEEE/ACM ToN 2020, with the extensions that Controller names.
class MonaPolicy final : public OverloadPolicy {
 public:
  MonaPolicy(const OverloadSetup& setup, Controller::Mode mode);

  bool end_window(const ControlWindow& window, std::span<const FollowedTask> tasks) noexcept override;
  double share(std::size_t task, std::size_t state, std::size_t weight) const noexcept override;
  OverloadState state() const noexcept override;

 private:
  Controller controller_;
  std::vector<std::uint64_t> states_of_task_;
  std::vector<double> base_packets_, packets_;  ///< of the last window, by state
  std::vector<GapRecovery::Task> tasks_;
  Allocation installed_;
};

/// Returns the policies of MONA.
std::span<const OverloadPolicyEntry> mona_policies() noexcept;

}  // namespace parshall::lab
