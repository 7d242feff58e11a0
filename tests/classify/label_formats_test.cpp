// SPDX-License-Identifier: Apache-2.0
#include "classify/label_formats.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "classify/label_flow.hpp"

namespace parshall {
namespace {

using namespace std::string_literals;
using std::filesystem::path;

Result<Labels> labels_of_list(const std::string& text, BadLines bad_lines = BadLines::skip) {
  std::istringstream stream(text);
  return Labels::parse(stream, "list", bad_lines);
}

/// Returns the class of a flow; empty if it has none.
std::string class_in(const Labels& labels, const FlowText& flow) {
  return std::string(labels.find("any.pcap", *flow_of(flow)).value_or(""));
}

/// Returns the error of a list; empty if it is valid.
std::string label_error(const std::string& text, BadLines bad_lines = BadLines::skip) {
  const auto labels = labels_of_list(text, bad_lines);
  return labels ? std::string() : labels.error().message;
}

/// A folder that is removed with its files.
struct LogFolder {
  path folder = path(::testing::TempDir()) / ("logs" + std::to_string(::getpid()));

  LogFolder() { std::filesystem::create_directory(folder); }
  ~LogFolder() { std::filesystem::remove_all(folder); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder / name, std::ios::binary) << text;
    return (folder / name).string();
  }
};

constexpr const char* kConnHead =
    "#separator \\x09\n#set_separator\t,\n#empty_field\t(empty)\n#unset_field\t-\n#path\tconn\n"
    "#open\t2014-05-23-18-02-04\n"
    "#fields\tts\tuid\tid.orig_h\tid.orig_p\tid.resp_h\tid.resp_p\tproto\tservice\tduration\n"
    "#types\ttime\tstring\taddr\tport\taddr\tport\tenum\tstring\tinterval\n";

// From https://docs.tenzir.com/reference/operators/read_zeek_tsv, an example of a log that Zeek wrote, cut after the
// duration.
constexpr const char* kConnLines =
    "1258531221.486539\tPii6cUUq1v4\t192.168.1.102\t68\t192.168.1.1\t67\tudp\t-\t0.163820\n"
    "1258531680.237254\tnkCxlvNN8pi\t192.168.1.103\t137\t192.168.1.255\t137\tudp\tdns\t3.780125\n"
    "1258531693.816224\t9VdICMMnxQ7\t192.168.1.102\t137\t192.168.1.255\t137\tudp\tdns\t3.748647\n";

std::string conn_line(const std::string& uid, const std::string& port, const std::string& service) {
  return "1.5\t" + uid + "\t10.0.0.1\t1000\t10.0.0.2\t" + port + "\ttcp\t" + service + "\t-\n";
}
std::string class_of_port(const Labels& labels, const std::string& port) {
  return class_in(labels, {"tcp", "10.0.0.1", "1000", "10.0.0.2", port});
}

constexpr const char* kSslHead =
    "#separator \\x09\n#unset_field\t-\n#path\tssl\n#fields\tts\tuid\tversion\tserver_name\n"
    "#types\ttime\tstring\tstring\tstring\n";

TEST(NdpiLabels, AreReadAsNdpiReaderWritesThem) {
  const auto labels = Labels::read(REFERENCE_FOLDER "/ndpi_4.2.csv", BadLines::refuse);
  ASSERT_TRUE(labels) << labels.error().message;
  EXPECT_EQ(labels->size(), 12u);
  EXPECT_EQ(class_in(*labels, {"6", "172.31.3.224", "42835", "216.58.212.100", "443"}), "Google");
  EXPECT_EQ(class_in(*labels, {"17", "192.168.220.56", "56373", "192.168.203.167", "53"}), "DNS");
  EXPECT_EQ(labels->note(),
            REFERENCE_FOLDER "/ndpi_4.2.csv is of ndpiReader: 12 flows of a known class, and 0 lines without one");
}

TEST(NdpiLabels, MayBeSeparatedByBarsAndNameNoClass) {
  const auto labels = labels_of_list(
      "#flow_id|protocol|first_seen|last_seen|duration|src_ip|src_port|dst_ip|dst_port|ndpi_proto_num|ndpi_proto|"
      "proto_by_ip|server_name_sni|c_to_s_pkts\n"
      "0|6|1.0|2.0|1.0|10.0.0.1|1000|10.0.0.2|443|91.126|TLS.Google|Unknown|a\"b|1\n"
      "1|6|1.0|2.0|1.0|10.0.0.1|1000|10.0.0.2|81|0|Unknown|Google||1\n"
      "2|6|1.0|2.0|1.0|10.0.0.1|1000\n"
      "3|17|1.0|2.0|1.0|::1|1000|::2|53|5|DNS.Google|Unknown||1\n");
  ASSERT_TRUE(labels) << labels.error().message;
  EXPECT_EQ(class_of_port(*labels, "443"), "Google");
  EXPECT_EQ(class_of_port(*labels, "81"), "");
  EXPECT_EQ(class_in(*labels, {"udp", "::2", "53", "::1", "1000"}), "DNS");
  EXPECT_EQ(labels->bad_lines(), 1u);
  EXPECT_EQ(labels->note(), "list is of ndpiReader: 2 flows of a known class, and 1 line without one");
}

TEST(NdpiLabels, AreOfTheApplicationUnlessTheyLookItUp) {
  for (const auto& [name, expected] : {std::pair{"TLS.Google", "Google"},
                                       {"QUIC.YouTube", "YouTube"},
                                       {"Dropbox", "Dropbox"},
                                       {"HTTP", "HTTP"},
                                       {"DNS.Google", "DNS"},
                                       {"MDNS.Spotify", "MDNS"},
                                       {"ICMP.Amazon", "ICMP"},
                                       {"Unknown", ""},
                                       {"", ""}})
    EXPECT_EQ(ndpi_class(name), expected) << name;
}

TEST(NdpiLabels, NeedTheirColumns) {
  EXPECT_EQ(label_error("#flow_id,protocol,src_ip,src_port,dst_ip,dst_port\n"),
            "list, line 1: the column ndpi_proto is missing: give the file that ndpiReader -C wrote");
  EXPECT_EQ(label_error("#flow_id;protocol\n"), "list, line 1: the columns must be separated by commas or |");
}

TEST(ParquetLabels, OfOtherWritersAreThoseOfCsv) {
  for (const char* writer : {"arrow", "arrow_v2", "duckdb", "pandas", "polars"}) {
    const auto labels = Labels::read(REFERENCE_FOLDER "/labels."s + writer + ".parquet", BadLines::skip);
    ASSERT_TRUE(labels) << labels.error().message;
    EXPECT_EQ(labels->size(), 3u) << writer;
    EXPECT_EQ(class_of_port(*labels, "443"), "web") << writer;
    EXPECT_EQ(class_of_port(*labels, "25"), "mail") << writer;
    const FlowKey dns = *flow_of({"udp", "2001:db8::2", "53", "2001:db8::1", "5"});
    EXPECT_EQ(labels->find("a.pcap", dns), "dns") << writer;
    EXPECT_EQ(labels->find("b.pcap", dns), std::nullopt) << writer;
    EXPECT_EQ(labels->bad_lines(), 1u) << writer;
    EXPECT_TRUE(labels->warning().ends_with(".parquet, row 3: src_port \"\" is not a number from 0 to 65535"))
        << labels->warning();
  }
}

TEST(ParquetLabels, SayWhatIsWrong) {
  const auto packed = Labels::read(REFERENCE_FOLDER "/labels.gzip.parquet", BadLines::skip);
  ASSERT_FALSE(packed);
  EXPECT_TRUE(packed.error().message.ends_with(
      "labels.gzip.parquet: column class: it is compressed in another way than zstd and Snappy: write the file again "
      "with one of these"))
      << packed.error().message;
  const auto lacking = Labels::read(REFERENCE_FOLDER "/labels.no_class.parquet", BadLines::skip);
  ASSERT_FALSE(lacking);
  EXPECT_TRUE(lacking.error().message.ends_with(
      "the column class is missing; needed are class,protocol,src_ip,src_port,dst_ip,dst_port"))
      << lacking.error().message;
  EXPECT_EQ(label_error("PAR1"), "list: not whole: it has no footer");
}

TEST(ParquetLabels, MayBeCutOrWrongInAnyByte) {
  for (const char* writer : {"arrow_v2", "duckdb"}) {
    std::ifstream file(REFERENCE_FOLDER "/labels."s + writer + ".parquet", std::ios::binary);
    const std::string whole(std::istreambuf_iterator<char>(file), {});
    for (std::size_t at = 4; at < whole.size(); ++at) {
      EXPECT_FALSE(labels_of_list(whole.substr(0, at)));
      for (const int flip : {1, 0xff}) {
        std::string wrong = whole;
        wrong[at] = static_cast<char>(wrong[at] ^ flip);
        const auto labels = labels_of_list(wrong);  // valid or not
        EXPECT_LE(labels ? labels->size() : 0, 4u);
      }
    }
  }
}

TEST(ZeekLabels, AreTheServicesOfAConnLog) {
  const auto labels = labels_of_list(std::string(kConnHead) + kConnLines + conn_line("a", "445", "smb,gssapi,-ntlm") +
                                     "#close\t2014-05-23-18-02-35\n");
  ASSERT_TRUE(labels) << labels.error().message;
  EXPECT_EQ(class_in(*labels, {"udp", "192.168.1.103", "137", "192.168.1.255", "137"}), "dns");
  EXPECT_EQ(class_in(*labels, {"udp", "192.168.1.102", "68", "192.168.1.1", "67"}), "");
  EXPECT_EQ(class_of_port(*labels, "445"), "gssapi+smb");
  EXPECT_EQ(labels->size(), 3u);
  EXPECT_EQ(labels->note(),
            "list is conn.log of Zeek, without names of an ssl.log: 3 flows of a known class, and 1 line without one");
}

TEST(ZeekLabels, AreTheDomainsOfTheSslLogBeside) {
  const LogFolder logs;
  const std::string conn =
      logs.write("conn.log", kConnHead + conn_line("C1", "443", "ssl") + conn_line("C2", "444", "ssl") +
                                 conn_line("C3", "445", "-") + conn_line("C4", "446", "ssl"));
  logs.write("ssl.log", std::string(kSslHead) + "1\tC1\tTLSv13\twww.example.com\n1\tC2\tTLSv13\t-\n" +
                            "1\tC3\tTLSv13\tcdn.Example.co.uk\n1\tC4\tTLSv13\t192.0.2.1\n1\tC4\tbad\n");
  const auto labels = Labels::read(conn, BadLines::skip);
  ASSERT_TRUE(labels) << labels.error().message;
  EXPECT_EQ(class_of_port(*labels, "443"), "example.com");
  EXPECT_EQ(class_of_port(*labels, "444"), "ssl");
  EXPECT_EQ(class_of_port(*labels, "445"), "example.co.uk");
  EXPECT_EQ(class_of_port(*labels, "446"), "ssl");
  EXPECT_EQ(labels->bad_lines(), 1u);
  EXPECT_NE(labels->warning().find("ssl.log, line 10: there are 3 values, but 4 in #fields"), std::string::npos)
      << labels->warning();
  const auto refused = Labels::read(conn, BadLines::refuse);
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().message.ends_with("ssl.log, line 10: there are 3 values, but 4 in #fields"));
}

TEST(ZeekLabels, MayBeJsonLines) {
  const LogFolder logs;
  const std::string conn = logs.write(
      "my.conn.1.log",
      R"({"ts":1591367999.3,"uid":"C5bLoe2Mvxqhawzqqd","id.orig_h":"192.168.4.76","id.orig_p":46378,)"
      R"("id.resp_h":"31.3.245.133","id.resp_p":80,"proto":"tcp","service":"http","duration":0.25,"local_orig":true})"
      "\n"
      R"({"uid":"C2","id.orig_h":"10.0.0.1","id.orig_p":1000,"id.resp_h":"10.0.0.2","id.resp_p":443,"proto":"tcp"})"
      "\n{\"uid\":\n"
      R"({"uid":"C3","event_type":"flow","src_ip":"10.0.0.1"})"
      "\n");
  logs.write("my.ssl.1.log", R"({"ts":1,"uid":"C2","version":"TLSv12","server_name":"mail.example.org"})");
  const auto labels = Labels::read(conn, BadLines::skip);
  ASSERT_TRUE(labels) << labels.error().message;
  EXPECT_EQ(class_in(*labels, {"tcp", "192.168.4.76", "46378", "31.3.245.133", "80"}), "http");
  EXPECT_EQ(class_of_port(*labels, "443"), "example.org");
  EXPECT_EQ(labels->bad_lines(), 2u);
}

TEST(ZeekLabels, SayWhatIsWrongAndWhere) {
  EXPECT_EQ(label_error("#separator \\x09\n#fields\tts\tuid\tid.orig_h\n"),
            "list, line 2: #fields lacks proto: give Zeek's conn.log");
  EXPECT_EQ(label_error("{}\n"),
            "list, line 1: id.orig_h is missing: give Zeek's conn.log; no other line is valid either (1 line in all): "
            "correct the file");
  EXPECT_EQ(label_error("#separator \\x09\n1\t2\n", BadLines::refuse),
            "list, line 2: there is no #fields line above it");
  EXPECT_EQ(label_error("#separator \n"), "list, line 1: #separator names no separator: give Zeek's conn.log");
  EXPECT_EQ(label_error("\x1f\x8b\x08 packed"), "list, line 1: it is compressed: decompress it first");
}

TEST(ZeekLabels, JoinServicesInOneOrder) {
  EXPECT_EQ(zeek_class("ssl"), "ssl");
  EXPECT_EQ(zeek_class("smb,gssapi,ntlm"), zeek_class("ntlm,smb,gssapi"));
  EXPECT_EQ(zeek_class("-ssl,,http"), "http");
  EXPECT_EQ(zeek_class("-ssl"), "");
  EXPECT_EQ(zeek_class(""), "");
}

TEST(ZeekLabels, ShortenHostsToWhatIsRegistered) {
  for (const auto& [host, domain] : {std::pair{"example.com", "example.com"},
                                     {"WWW.a.Example.com.", "example.com"},
                                     {"a.co.uk", "a.co.uk"},
                                     {"x.y.a.com.au", "a.com.au"},
                                     {"co.uk", "co.uk"},
                                     {"a.b.io", "b.io"},
                                     {"192.0.2.1", ""},
                                     {"::1", ""},
                                     {"localhost", ""},
                                     {"", ""},
                                     {".", ""},
                                     {"a..b", ""},
                                     {".a.b", ""},
                                     {"a b.com", ""},
                                     {"\xc3\xa4.de", ""}})
    EXPECT_EQ(registered_domain(host), domain) << host;
}

TEST(ZeekLabels, HaveAnSslLogOfTheSameNameBesideThem) {
  EXPECT_EQ(ssl_log_beside("/logs/conn.log"), "/logs/ssl.log");
  EXPECT_EQ(ssl_log_beside("conn.08:00:00-09:00:00.log"), "ssl.08:00:00-09:00:00.log");
  EXPECT_EQ(ssl_log_beside("/conn/labels.csv"), "");
}

}  // namespace
}  // namespace parshall
