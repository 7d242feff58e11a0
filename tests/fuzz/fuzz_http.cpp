// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "application_reading.hpp"
#include "pipeline/decode/application/http.hpp"
#include "pipeline/decode/application/reader.hpp"
#include "targets.hpp"

namespace parshall::fuzz {
namespace {

/// What was found can be sent again, and is found again.
void check_again(const ApplicationFacts& facts) {
  const std::string again = "GET / HTTP/1.1\r\nHost: " + std::string(facts.http_host.view()) +
                            "\r\nUser-Agent: " + std::string(facts.http_user_agent.view()) + "\r\n\r\n";
  const Read read = read_with(read_http, {reinterpret_cast<const std::uint8_t*>(again.data()), again.size()});
  const auto is_whole = [](std::string_view text) {  // not cut before a blank at its end
    return text.empty() || (text.back() != ' ' && text.back() != '\t' && text.back() != '\r');
  };
  require(read.reading == Reading::done);
  if (is_whole(facts.http_host.view())) require(read.facts.http_host == facts.http_host);
  if (is_whole(facts.http_user_agent.view())) require(read.facts.http_user_agent == facts.http_user_agent);
}

}  // namespace

/// Input: where the stream is cut (2 bytes), the stream.
void fuzz_http(Bytes input) {
  Input in(input);
  const std::size_t cut = in.number(2);
  const Bytes bytes = in.rest();
  const Read read = check_cut(read_http, bytes, cut);
  require(read.reading != Reading::needs_more || bytes.size() < kMostHttpHeadBytes);
  if (read.reading == Reading::done) check_again(read.facts);
  ApplicationReader reader;
  ApplicationFacts facts{};
  require(bytes.empty() || bytes[0] == 21 || bytes[0] == 22 || reader.read_stream(bytes, 1, 2, facts) == read.reading);
}

}  // namespace parshall::fuzz
