// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "pipeline/capture/packet.hpp"

struct bpf_program;

namespace parshall {

struct FilterRefusal;
class FilterRefusals;

/// A filter in libpcap's language, compiled once per link type that turns up; twice for LinkType::null, which has its
/// protocol in the byte order of who wrote it.
/// Cost: an interpreted BPF program per packet, some 10 to 50 ns.
class BpfFilter {
 public:
  /// Fails where it is for packets of no link type, as on a syntax error, with libpcap's explanation.
  static Result<BpfFilter> compile(const std::string& expression);

  /// Now, for packets of these: later nothing is looked up that the expression names, such as a host. Error: a name
  /// that is not found.
  std::optional<Error> compile_for(std::span<const LinkType> link_types);

  /// Puts addresses in the place of names, if it has names of hosts alone: nothing is looked up later, whatever the
  /// packets. False: compile_for() is for such a filter.
  bool resolve_hosts();

  /// Whether it means something for packets of this link type; from then on matches() allocates nothing for them.
  bool applies_to(LinkType link_type);

  /// Libpcap's reason where it applies to none of these; nothing where there are none.
  std::optional<Error> refused_by(std::span<const LinkType> link_types);

  /// Of each link type that it did not apply to: why, and how many packets that left out. By all its copies, where so
  /// many of them saw each packet.
  std::vector<Error> left_out(std::uint64_t times) const;

  /// Whether it asks for nothing but the addresses, the protocol and the ports of IP packets, so that one packet stands
  /// for all of its flow. False of all expressions that read bytes by their place.
  bool says_the_same_of_a_flow();

  /// False also where the expression cannot apply to the packet's link type.
  bool matches(const RawPacket& packet) noexcept;

 private:
  struct Compiled {  ///< one of the two
    std::shared_ptr<bpf_program> program;
    std::shared_ptr<FilterRefusal> refusal;
  };
  struct Link {
    LinkType type = LinkType::ethernet;
    bool swapped = false;  ///< LinkType::null in the byte order that is not this machine's
    bool operator==(const Link&) const = default;
  };

  explicit BpfFilter(std::string expression);
  std::optional<Error> add(int number);
  const Compiled& compiled_for(Link link) noexcept;

  std::string expression_;
  Link last_link_;
  Compiled last_;
  int first_ = 0;                     ///< that it was found to apply to
  std::map<int, Compiled> programs_;  ///< by number of link types, one of those that are one to libpcap, and one more
  std::shared_ptr<FilterRefusals> refusals_;
};

}  // namespace parshall
