// SPDX-License-Identifier: Apache-2.0
#include "app/filter_hint.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <vector>

#include "app/named_source.hpp"
#include "base/parse.hpp"
#include "parshall/sources/source_kind.hpp"
#include "pipeline/capture/bpf_filter.hpp"
#include "pipeline/capture/filter_names.hpp"

namespace parshall::cli {
namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

Error second_source(const std::string& word, const std::string& command, const SourcePlan& source) {
  const SourceKind& kind = kind_of(source);
  const std::string begin = fmt::format("{} is a second source beside {} {}, but {} takes only one", word, kind.option,
                                        kind.name_in(source), command);
  if (kind.is_link && are_interfaces(word))
    return Error{
        fmt::format("{}; to read several interfaces, write {} {},{}", begin, kind.option, kind.name_in(source), word)};
  return Error{begin + ": read captures one after the other (interfaces together: -i lo,eth0)"};
}

/// Returns how a value is written whose rest was taken for a filter; empty where it is no value, either.
std::string whole_value(const ValueBefore& before, const std::string& filter) {
  const std::string glued = before.value + filter;
  if (before.takes == "TIME") return parse_duration_ns(glued) ? glued : "";
  if (before.takes == "COUNT") return parse_count(glued) ? glued : "";
  if (before.is_list) return fmt::format("{},{}", before.value, fmt::join(words_of(filter), ","));
  return before.takes == "TEXT" ? fmt::format("'{} {}'", before.value, filter) : "";
}

/// Returns true if a word is a field of Wireshark's display filters: ip.addr, tcp.port.
bool is_display_field(const std::string& word) {
  const std::size_t dot = word.find('.');
  const auto is_part = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.'; };
  return dot != word.npos && dot > 0 && std::isalpha(static_cast<unsigned char>(word.front())) != 0 &&
         std::ranges::all_of(word, is_part) && !may_have_names(word.substr(0, dot));
}

std::string language_hint(const std::vector<std::string>& words) {
  if (std::ranges::any_of(
          words, [](const std::string& word) { return is_display_field(word.substr(0, word.find_first_of("=!<>"))); }))
    return "; this is a display filter of Wireshark; write it in tcpdump's language: host 192.0.2.1 (man pcap-filter)";
  if (words.front().starts_with('-')) return fmt::format("; {} is not an option of this command", words.front());
  for (const std::string& word : words)
    if (const std::string near = nearest_filter_word(word); !near.empty())
      return fmt::format("; did you mean {}? (man pcap-filter)", near);
  return "; write filters in tcpdump's language: tcp port 443 (man pcap-filter)";
}

}  // namespace

Error explained(Error error, const std::string& command, const SourcePlan& source,
                const std::optional<ValueBefore>& before) {
  if (!error.message.starts_with(BpfFilter::kNotUnderstood)) return error;
  const std::vector<std::string> words = words_of(source.filter);
  for (const std::string& word : words) {
    if (is_source(word) && may_have_names(word)) return second_source(word, command, source);
    if (word.ends_with(".pcap") || word.ends_with(".pcapng"))
      return Error{fmt::format("{} would be a second source, and there is no file of that name", word)};
  }
  if (words.empty() || error.message.find("unknown ") != error.message.npos) return error;  // a name was not found
  if (before && (may_have_names(words.front()) || !BpfFilter::compile(words.front())))
    if (const std::string whole = whole_value(*before, source.filter); !whole.empty())
      return Error{fmt::format("\"{}\" was read as a filter; if it belongs to {} {}, write {} {}", source.filter,
                               before->option, before->value, before->option, whole)};
  error.message += language_hint(words);
  return error;
}

}  // namespace parshall::cli
