// SPDX-License-Identifier: Apache-2.0
#include "compare/record_set.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/parse.hpp"
#include "verify/parquet_rows.hpp"
#include "verify/runs.hpp"

namespace parshall {
namespace {

enum Column : std::size_t {
  kFlowKey,
  kPackets,
  kFirst,
  kLast,
  kNeededCount,
  kProtocol = kNeededCount,  // this and the following are not in all keys
  kSrcIp,
  kSrcPort,
  kDstIp,
  kDstPort,
  kDigestPackets,  // these are kept on request
  kDigestRepeats,
  kDigestNames,
  kDigestTimes,
  kCutName,
  kCutTime,
  kCutPackets,
  kCutRepeats,
  kCutNames,
  kCutTimes,
  kColumnCount
};
constexpr std::array<std::string_view, kColumnCount> kColumns = {
    "flow_key", "packets",     "first_seen",     "last_seen",      "protocol",     "src_ip",          "src_port",
    "dst_ip",   "dst_port",    "digest_packets", "digest_repeats", "digest_names", "digest_times_ns", "cut_name",
    "cut_time", "cut_packets", "cut_repeats",    "cut_names",      "cut_times_ns"};

/// Settings that must be the same at both taps: names in an account, and the option that sets them.
constexpr std::pair<std::string_view, std::string_view> kSettings[] = {
    {"seed_check", "--seed"}, {"key", "--key"}, {"inner", "--inner"}, {"filter", "the filter"}};

/// Counters of an account of packets that the tap did not see.
constexpr std::string_view kMissed[] = {"nic_missed", "nic_error", "no_mbuf", "ring_full"};

/// Reads the parts of a key that the row has. Returns false without any address.
bool read_key(const ParquetRow& row, FlowKey& key) {
  key = {};
  const std::string_view an_address = row.present[kSrcIp] ? row.texts[kSrcIp] : row.texts[kDstIp];
  key.ip_version = an_address.find(':') == std::string_view::npos ? 4 : 6;
  key.protocol = static_cast<std::uint8_t>(row.numbers[kProtocol]);
  const auto put_port = [](std::uint64_t port, auto& bytes) {
    bytes[0] = static_cast<std::uint8_t>(port >> 8);
    bytes[1] = static_cast<std::uint8_t>(port);
  };
  put_port(row.numbers[kSrcPort], key.src_port_bytes);
  put_port(row.numbers[kDstPort], key.dst_port_bytes);
  const int family = key.ip_version == 4 ? AF_INET : AF_INET6;
  const auto put_address = [family](std::string_view text, std::uint8_t* to) {
    return ::inet_pton(family, std::string(text).c_str(), to) == 1;
  };
  const bool has_src = put_address(row.texts[kSrcIp], key.address.data());
  const bool has_dst = put_address(row.texts[kDstIp], key.address.data() + key.address_bytes());
  return has_src || has_dst;
}

class Reader {
 public:
  Result<RecordSet> read(const std::string& path) {
    const auto verified = verify(std::array{path});
    if (!verified) return verified.error();
    for (const Error& unreadable : verified->unreadable) note_lack(unreadable.message);
    for (const VerifiedFile* const file : in_order(verified->files))
      if (!file->read.problem.empty())
        note_lack(fmt::format("{}: {}", file->path, file->read.problem));
      else if (auto error = read(*file))
        return *error;
    for (const VerifiedRun& run : verified->runs)
      if (!run.problem.empty()) note_lack(fmt::format("run {}: {}", run.name, run.problem));
    if (set_.records == 0)
      return Error{fmt::format("{}: no record of a flow{}{}", path, set_.lacks.empty() ? "" : ": ", set_.lacks)};
    set_.tap.compared = set_.tap.packets;
    return std::move(set_);
  }

 private:
  /// Returns the Parquet files in the order in which each run wrote them, by the number in their names.
  static std::vector<const VerifiedFile*> in_order(const std::vector<VerifiedFile>& files) {
    std::vector<const VerifiedFile*> sorted;
    for (const VerifiedFile& file : files)
      if (file.path.find(".parquet") != std::string::npos || file.path.find(".pq") != std::string::npos)
        sorted.push_back(&file);
    std::ranges::sort(sorted, {},
                      [](const VerifiedFile* file) { return file->path.substr(file->path.rfind('/') + 1); });
    return sorted;
  }

  std::optional<Error> read(const VerifiedFile& file) {
    const auto bytes = read_whole(file.path);
    if (!bytes) return bytes.error();
    std::map<std::string, std::string> metadata;
    std::optional<Error> error;
    const bool is_account = file.read.account.has_value();
    const auto columns = is_account ? std::span<const std::string_view>() : std::span<const std::string_view>(kColumns);
    const std::string problem = read_parquet_rows(*bytes, columns, metadata, [&](const ParquetRow& row) {
      if (!is_account) error = take(row, file.read.run);
      return !error;
    });
    if (!problem.empty()) return Error{fmt::format("{}: {}", file.path, problem)};
    if (error) return Error{fmt::format("{}: {}", file.path, error->message)};
    return is_account ? take_account(file.path, metadata) : std::nullopt;
  }

  std::optional<Error> take(const ParquetRow& row, const std::string& run) {
    for (std::size_t column = 0; column < kNeededCount; ++column)
      if (!row.present[column])
        return Error{fmt::format("no column {}: export with --columns +flow_key", kColumns[column])};
    RecordedFlow& flow = set_.flows[row.numbers[kFlowKey]];
    if (flow.packets == 0 && !read_key(row, flow.key)) return Error{"a record without addresses"};
    flow.packets += row.numbers[kPackets];
    flow.first_ns = std::min(flow.first_ns, row.numbers[kFirst]);
    flow.last_ns = std::max(flow.last_ns, row.numbers[kLast]);
    if (flow.run != run) {
      flow.has_several_runs = !flow.run.empty();
      flow.run = run;
    }
    take_sums(row, flow);
    ++set_.records;
    set_.tap.packets += row.numbers[kPackets];
    RecordSet::Run& watched = set_.runs[run];
    watched.first_ns = std::min(watched.first_ns, row.numbers[kFirst]);
    watched.last_ns = std::max(watched.last_ns, row.numbers[kLast]);
    return std::nullopt;
  }

  /// The sums go on from record to record of a flow, and start anew where a flow with this key begins again.
  static void take_sums(const ParquetRow& row, RecordedFlow& flow) {
    const PacketSums sums{row.numbers[kDigestPackets], row.numbers[kDigestNames], row.numbers[kDigestTimes],
                          row.numbers[kDigestRepeats]};
    const std::uint64_t packets = row.numbers[kPackets];
    if (!row.present[kDigestPackets] || !row.present[kDigestRepeats] || !row.present[kDigestNames] ||
        !row.present[kDigestTimes])
      flow.lacks_sums = true;
    else if (sums.packets == packets)
      flow.ended += flow.current;
    else if (sums.packets != flow.current.packets + packets)
      flow.lacks_sums = true;
    flow.current = sums;
    if (flow.lacks_sums || !row.present[kCutName] || !row.present[kCutRepeats] || !row.present[kCutTimes]) return;
    PacketSums at_cut{row.numbers[kCutPackets], row.numbers[kCutNames], row.numbers[kCutTimes],
                      row.numbers[kCutRepeats]};
    at_cut += flow.ended;
    flow.cuts.push_back({row.numbers[kCutName], row.numbers[kCutTime], at_cut, packets});
  }

  std::optional<Error> take_account(const std::string& path, const std::map<std::string, std::string>& metadata) {
    const auto text = [&](std::string_view name) {
      const auto found = metadata.find(fmt::format("parshall.{}", name));
      return found == metadata.end() ? std::string() : found->second;
    };
    if (text("biflow") == "true")
      return Error{fmt::format("{}: its run counted both directions together: export without --biflow", path)};
    for (const auto& [name, option] : kSettings) {
      const auto [known, is_new] = set_.settings.try_emplace(std::string(option), text(name));
      if (!is_new && known->second != text(name))
        return Error{fmt::format("{}: this run had {} {}, and another one of the folder {}", path, option, text(name),
                                 known->second)};
    }
    for (const std::string_view name : kMissed) set_.tap.missed += parse_count(text(name)).value_or(0);
    if (const std::string not_sent = text("packets_not_sent"); !not_sent.empty() && not_sent != "0")
      note_lack(fmt::format("{}: {} packets are in records that were not written", path, not_sent));
    return std::nullopt;
  }

  void note_lack(const std::string& why) {
    if (set_.lacks.empty()) set_.lacks = why;
  }

  RecordSet set_;
};

}  // namespace

std::optional<TapSums> RecordedFlow::sums() const {
  PacketSums all = ended;
  all += current;
  if (lacks_sums || has_several_runs || all.packets != packets) return std::nullopt;
  return TapSums{cuts, all, first_ns, last_ns};
}

Result<RecordSet> read_records(const std::string& path) { return Reader().read(path); }

}  // namespace parshall
