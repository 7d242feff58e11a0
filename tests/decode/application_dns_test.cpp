// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "application_bytes.hpp"
#include "pipeline/decode/application/dns.hpp"

namespace parshall::testing {
namespace {

constexpr unsigned kResponse = 0x8180;

Bytes dns_name(const std::vector<Bytes>& labels) {
  Bytes name;
  for (const Bytes& label : labels) name = join({name, with_length8(label)});
  return join({name, {0}});
}
struct DnsParts {
  unsigned flags = 0x0100;
  unsigned questions = 1, answers = 0, authorities = 0, additionals = 0;
  Bytes name = dns_name({text_bytes("www"), text_bytes("example"), text_bytes("org")});
  Bytes behind = {0, 1, 0, 1};
};
Bytes dns_message(const DnsParts& parts) {
  return join({{0xab, 0xcd},
               be16(parts.flags),
               be16(parts.questions),
               be16(parts.answers),
               be16(parts.authorities),
               be16(parts.additionals),
               parts.name,
               parts.behind});
}
Reading dns_of(const Bytes& message, ApplicationFacts& facts, DnsKind kind = DnsKind::unicast) {
  return read_dns(ExactBytes(message).span(), facts, kind);
}
Reading dns_reading(const DnsParts& parts, DnsKind kind = DnsKind::unicast) {
  ApplicationFacts facts{};
  return dns_of(dns_message(parts), facts, kind);
}
ApplicationFacts dns_facts(const DnsParts& parts, DnsKind kind = DnsKind::unicast) {
  ApplicationFacts facts{};
  EXPECT_EQ(dns_of(dns_message(parts), facts, kind), Reading::done);
  return facts;
}
std::string shown_name(const std::vector<Bytes>& labels) {
  return std::string(dns_facts({.name = dns_name(labels)}).dns_name.view());
}

TEST(Dns, AQueryNamesItsQuestion) {
  const ApplicationFacts facts = dns_facts({});
  EXPECT_EQ(facts.protocol, ApplicationProtocol::dns);
  EXPECT_EQ(facts.dns_name.view(), "www.example.org");
  EXPECT_FALSE(facts.has_dns_rcode);
}

TEST(Dns, AResponseHasACode) {
  for (unsigned rcode = 0; rcode < 16; ++rcode) {
    const ApplicationFacts facts = dns_facts({.flags = kResponse | rcode, .answers = 3});
    EXPECT_TRUE(facts.has_dns_rcode);
    EXPECT_EQ(facts.dns_rcode, rcode);
    EXPECT_EQ(facts.dns_name.view(), "www.example.org");
  }
  EXPECT_EQ(kDnsRcodeNames[3], "NXDOMAIN");
  EXPECT_EQ(kDnsRcodeNames[11], "DSOTYPENI");
}

TEST(Dns, CutAnywhereItNeedsMoreAndThenSaysTheSame) {
  const Bytes message = dns_message({.flags = kResponse});
  for (std::size_t size = 0; size < message.size(); ++size) {
    ApplicationFacts facts{};
    EXPECT_EQ(read_dns(ExactBytes(message, size).span(), facts), Reading::needs_more) << size;
    EXPECT_EQ(facts, ApplicationFacts{});
  }
  EXPECT_EQ(dns_facts({.flags = kResponse, .behind = Bytes(40, 1)}), dns_facts({.flags = kResponse}));
}

TEST(Dns, NamesAreWrittenAsInMasterFiles) {
  EXPECT_EQ(shown_name({}), ".") << "the root";
  EXPECT_EQ(shown_name({text_bytes("com")}), "com");
  EXPECT_EQ(shown_name({text_bytes("A-b_c"), text_bytes("d*e")}), "A-b_c.d*e");
  EXPECT_EQ(shown_name({text_bytes("a.b"), text_bytes("c\\d")}), "a\\046b.c\\092d");
  EXPECT_EQ(shown_name({{0, 9, 31, 32, 33, 126, 127, 128, 255}}), "\\000\\009\\031\\032!~\\127\\128\\255");
  EXPECT_EQ(shown_name({Bytes(63, 1), Bytes(63, 'b')}), [] {
    std::string text;
    for (int i = 0; i < 63; ++i) text += "\\001";
    return (text + "." + std::string(63, 'b')).substr(0, 255);
  }()) << "cut at 255";
  const std::string cut = shown_name({Bytes(63, 1), Bytes(63, 2)});
  EXPECT_EQ(cut, shown_name({Bytes(63, 1)}) + ".") << "but within no escape";
  const Bytes longest(63, 'x');
  EXPECT_EQ(shown_name({longest, longest, longest, Bytes(61, 'x')}).size(), 253u);
  EXPECT_EQ(dns_reading({.name = dns_name({longest, longest, longest, Bytes(62, 'x')})}), Reading::unknown)
      << "a name of 256 bytes";
}

TEST(Dns, PointersAndReservedLabelsAreRefused) {
  for (const Bytes& name :
       {Bytes{0xc0, 12}, Bytes{1, 'a', 0xc0, 12}, Bytes{0xc0, 0}, Bytes{0xff, 0xff}, Bytes{64}, Bytes{0x80, 1}})
    EXPECT_EQ(dns_reading({.name = name}), Reading::unknown);
}

TEST(Dns, HeadersThatNobodySendsAreUnknown) {
  for (unsigned opcode = 0; opcode < 16; ++opcode)
    EXPECT_EQ(dns_reading({.flags = opcode << 11}),
              opcode == 0 || opcode == 4 || opcode == 5 ? Reading::done : Reading::unknown)
        << opcode;
  EXPECT_EQ(dns_reading({.questions = 0}), Reading::unknown);
  EXPECT_EQ(dns_reading({.questions = 2}), Reading::unknown);
  EXPECT_EQ(dns_reading({.flags = 3}), Reading::unknown) << "a query with a response code";
  EXPECT_EQ(dns_reading({.answers = 1}), Reading::unknown) << "a query with answers";
  EXPECT_EQ(dns_reading({.authorities = 2}), Reading::unknown);
  EXPECT_EQ(dns_reading({.authorities = 1}), Reading::done) << "IXFR";
  EXPECT_EQ(dns_reading({.additionals = 1}), Reading::done) << "EDNS";
  EXPECT_EQ(dns_reading({.additionals = 9}), Reading::unknown);
  EXPECT_EQ(dns_reading({.flags = 5 << 11, .authorities = 30}), Reading::done) << "an update of many records";
}

TEST(Dns, ARefusalMayHaveNoQuestion) {
  const ApplicationFacts facts = dns_facts({.flags = kResponse | 1, .questions = 0, .name = {}, .behind = {}});
  EXPECT_EQ(facts.dns_rcode, 1);
  EXPECT_TRUE(facts.dns_name.empty());
  EXPECT_EQ(dns_reading({.flags = kResponse, .questions = 0}), Reading::unknown);
  EXPECT_EQ(dns_reading({.flags = kResponse | 1, .questions = 0, .answers = 1}), Reading::unknown);
}

TEST(Dns, MulticastHasManyQuestionsOrAnswersAlone) {
  constexpr DnsKind kMulticast = DnsKind::multicast;
  EXPECT_EQ(dns_facts({.questions = 5, .answers = 9, .authorities = 4}, kMulticast).dns_name.view(), "www.example.org");
  EXPECT_EQ(dns_reading({.questions = 65}, kMulticast), Reading::unknown);
  EXPECT_EQ(dns_reading({.questions = 0}, kMulticast), Reading::unknown);
  const DnsParts announced{.flags = 0x8400, .questions = 0, .answers = 2, .behind = Bytes(10, 1)};
  EXPECT_EQ(dns_facts(announced, kMulticast).dns_name.view(), "www.example.org") << "of the first answer";
  EXPECT_TRUE(dns_facts(announced, kMulticast).has_dns_rcode);
  const Bytes message = dns_message(announced);
  ApplicationFacts facts{};
  EXPECT_EQ(read_dns(ExactBytes(message, message.size() - 1).span(), facts, kMulticast), Reading::needs_more);
  EXPECT_EQ(dns_reading({.flags = 0x8400, .questions = 0}, kMulticast), Reading::unknown);
  EXPECT_EQ(dns_reading({.flags = 4 << 11}, kMulticast), Reading::unknown) << "a notification";
}

TEST(Dns, OverTcpTheFirstQuestionIsEnough) {
  const Bytes message = dns_message({.flags = kResponse, .answers = 9, .behind = Bytes(600, 3)}),
              stream = with_length16(message);
  const std::size_t enough = 2 + 12 + 17 + 4;
  for (std::size_t size = 0; size <= stream.size(); ++size) {
    ApplicationFacts facts{};
    EXPECT_EQ(read_dns_stream(ExactBytes(stream, size).span(), facts),
              size < enough ? Reading::needs_more : Reading::done)
        << size;
    if (size >= enough) {
      EXPECT_EQ(facts.dns_name.view(), "www.example.org");
    }
  }
  const auto stream_reading = [](const Bytes& bytes) {
    ApplicationFacts facts{};
    return read_dns_stream(ExactBytes(bytes).span(), facts);
  };
  EXPECT_EQ(stream_reading(join({be16(20), message})), Reading::unknown) << "the name goes beyond the message";
  EXPECT_EQ(stream_reading({0, 11}), Reading::unknown);
  EXPECT_EQ(stream_reading(text_bytes("GET / HTTP/1.1\r\n")), Reading::unknown);
}

TEST(Dns, ChangedBytesDoNoHarm) {
  for (const DnsKind kind : {DnsKind::unicast, DnsKind::multicast})
    for_mutations(dns_message({}), 20'000, [&](std::span<const std::uint8_t> bytes) {
      ApplicationFacts facts{};
      if (read_dns(bytes, facts, kind) != Reading::done) {
        EXPECT_EQ(facts, ApplicationFacts{});
      }
      for (const char c : facts.dns_name.view()) EXPECT_TRUE(c > ' ' && c < 0x7f);
    });
}

}  // namespace
}  // namespace parshall::testing
