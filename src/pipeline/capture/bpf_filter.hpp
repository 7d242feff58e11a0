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

/// Filter in libpcap's language, compiled once per link type that turns up. It is compiled twice for LinkType::null,
/// whose protocol field is in the writer's byte order.
/// Cost: an interpreted BPF program per packet, some 10 to 50 ns.
class BpfFilter {
 public:
  /// Begins the error of an expression that cannot be compiled.
  static constexpr const char* kNotUnderstood = "cannot understand the filter";

  /// Loads libpcap. Returns why no filter can be compiled, if it cannot be loaded.
  static const std::optional<Error>& problem();

  /// Compiles an expression. Fails with libpcap's explanation if it applies to no link type, for example on a syntax
  /// error.
  static Result<BpfFilter> compile(const std::string& expression);

  /// Returns the expression as it was given, or with addresses in place of names.
  const std::string& expression() const noexcept { return expression_; }

  /// Compiles for packets of these link types now, so that no name in the expression, such as a host's, is looked up
  /// later. Returns an error if a name is not found.
  std::optional<Error> compile_for(std::span<const LinkType> link_types);

  /// Replaces host names by addresses, so that nothing is looked up later, whatever the link types. Returns false if
  /// the expression has other names; use compile_for() then.
  bool resolve_hosts();

  /// Returns whether the filter applies to packets of this link type. From then on, matches() allocates nothing for
  /// them.
  bool applies_to(LinkType link_type);

  /// Returns libpcap's reason if the filter applies to none of these link types. Returns nullopt for an empty list.
  std::optional<Error> refused_by(std::span<const LinkType> link_types);

  /// Returns, for each link type that the filter did not apply to, the reason and the number of packets left out. The
  /// filter's copies count together; `times` of them saw each packet.
  std::vector<Error> left_out(std::uint64_t times) const;

  /// Returns whether the filter tests only the addresses, protocol and ports of IP packets, so that one packet decides
  /// for its whole flow. Returns false for every expression that reads bytes by offset.
  bool says_the_same_of_a_flow();

  /// Returns whether the packet matches. False also if the expression cannot apply to the packet's link type.
  bool matches(const RawPacket& packet) noexcept;

 private:
  struct Compiled {  ///< exactly one of the two is set
    std::shared_ptr<bpf_program> program;
    std::shared_ptr<FilterRefusal> refusal;
  };
  struct Link {
    LinkType type = LinkType::ethernet;
    bool swapped = false;  ///< LinkType::null in the other byte order than this machine's
    bool operator==(const Link&) const = default;
  };

  explicit BpfFilter(std::string expression);
  std::optional<Error> add(int number);
  const Compiled& compiled_for(Link link) noexcept;

  std::string expression_;
  Link last_link_;
  Compiled last_;
  int first_ = 0;                     ///< first link type found that the filter applies to
  std::map<int, Compiled> programs_;  ///< by the number of a link type; see number_of() and kSwappedNull
  std::shared_ptr<FilterRefusals> refusals_;
};

}  // namespace parshall
