// SPDX-License-Identifier: Apache-2.0
#include "pipeline/capture/dpdk/port_state.hpp"

#include <rte_dev.h>
#include <rte_ethdev.h>

namespace parshall::dpdk {
namespace {

/// Returns the value if the driver fills this member. One that is not known to may still do so, as a value above 0
/// shows.
std::optional<std::uint64_t> told(bool filled, std::uint64_t value) {
  return filled || value > 0 ? std::optional(value) : std::nullopt;
}

}  // namespace

PortState::~PortState() {
  close();
  for (rte_mempool* pool : pools_) ::rte_mempool_free(pool);
}

rte_eth_stats PortState::read_stats() noexcept {
  const std::scoped_lock lock(mutex_);
  if (running()) ::rte_eth_stats_get(id_, &last_);
  return last_;
}

std::optional<std::uint64_t> PortState::kernel_drops(std::uint16_t queue) noexcept {
  return drops_[queue] ? drops_[queue]->read().dropped : std::nullopt;
}

Counters PortState::device_counters() noexcept {
  const rte_eth_stats stats = read_stats();
  Counters counters;
  counters.set(Counter::nic_received, stats.ipackets);
  counters.set(Counter::nic_missed, told(facts_.counts_missed, stats.imissed));
  counters.set(Counter::nic_error, told(facts_.counts_errors, stats.ierrors));
  counters.set(Counter::no_mbuf, told(facts_.counts_no_mbuf, stats.rx_nombuf));
  if (limits_.maybe_cut != UINT32_MAX) counters.set(Counter::joined, joined_.load(std::memory_order_relaxed));
  for (std::uint16_t queue = 0; queue < queues_; ++queue) {
    const auto drops = kernel_drops(queue);
    if (!drops) continue;
    if (queue == 0) counters.set(Counter::nic_missed, 0);  // the driver's own figure is part of the kernel's
    counters.add(Counter::nic_missed, *drops);
  }
  return counters;
}

Counters PortState::queue_counters(std::uint16_t queue) noexcept {
  if (queues_ == 1) return device_counters();
  Counters counters;
  if (counts_queues_ && queue < RTE_ETHDEV_QUEUE_STAT_CNTRS)
    counters.set(Counter::nic_received, read_stats().q_ipackets[queue]);
  counters.set(Counter::nic_missed, kernel_drops(queue));
  return counters;
}

bool PortState::link_is_up() const noexcept {
  if (link_) return link_->is_up();
  rte_eth_link link{};
  return ::rte_eth_link_get_nowait(id_, &link) != 0 || link.link_status == RTE_ETH_LINK_UP;
}

std::optional<double> PortState::line_bps() const noexcept {
  if (link_) return link_->line_bps();
  rte_eth_link link{};
  if (::rte_eth_link_get_nowait(id_, &link) != 0) return std::nullopt;
  if (link.link_speed == RTE_ETH_SPEED_NUM_NONE || link.link_speed == RTE_ETH_SPEED_NUM_UNKNOWN) return std::nullopt;
  return link.link_speed * 1e6;
}

void PortState::close() noexcept {
  if (!running()) return;
  read_stats();
  for (auto& drops : drops_) {
    if (drops) drops->detach();
  }
  running_ = false;
  rte_eth_dev_info info{};
  const bool known = ::rte_eth_dev_info_get(id_, &info) == 0;
  ::rte_eth_dev_stop(id_);
  ::rte_eth_dev_close(id_);
  for (auto& drops : drops_) {
    if (drops) drops->close_leftover();
  }
  if (known && info.device) ::rte_dev_remove(info.device);
}

}  // namespace parshall::dpdk
