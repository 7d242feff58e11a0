// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <chrono>

#include "base/file_handle.hpp"
#include "pipeline/output/ipfix/ipfix.hpp"
#include "pipeline/output/schema.hpp"

namespace parshall {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;

/// Header of a message (RFC 3954, 5.1).
struct Header {
  std::uint32_t version, uptime_ms, seconds;
};

/// A collector, and what exports to it the flows of an interface.
class NetFlowOfAnInterface : public ::testing::Test {
 protected:
  void SetUp() override {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
    socklen_t bytes = sizeof address;
    ASSERT_EQ(::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), bytes), 0);
    ASSERT_EQ(::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &bytes), 0);
    auto opened = open_netflow9_exporter("udp://127.0.0.1:" + std::to_string(::ntohs(address.sin_port)));
    ASSERT_TRUE(opened) << opened.error().message;
    exporter_ = *std::move(opened);
    exporter_->observe_at({"eth7", 7});
    exporter_->begin(schema_.columns());
  }

  void write(std::uint64_t first_ns, std::uint64_t last_ns) {
    FlowRecord record{.key = {}, .packets = 1};
    record.first_ns = first_ns;
    record.last_ns = last_ns;
    std::vector<Value> values(kBaseColumns);
    read_base_columns(record, std::span(values).first<kBaseColumns>());
    const ReportFlow flow{record, values};
    exporter_->records({&flow, 1});
  }

  Header receive() {
    exporter_->flush();
    const auto header = receive_one();
    EXPECT_TRUE(header);
    return header.value_or(Header());
  }

  std::optional<Header> receive_one() {
    std::array<std::uint8_t, 2000> message{};
    if (::recv(socket_.get(), message.data(), message.size(), MSG_DONTWAIT) < 20) return std::nullopt;
    const auto number = [&](std::size_t at, std::size_t bytes) {
      std::uint32_t value = 0;
      for (std::size_t i = 0; i < bytes; ++i) value = value << 8 | message[at + i];
      return value;
    };
    return Header{number(0, 2), number(4, 4), number(8, 4)};
  }

  FileHandle socket_{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  Schema schema_;
  std::unique_ptr<Exporter> exporter_;
};

TEST_F(NetFlowOfAnInterface, MessagesAreAsLateAsTheLatestPacketInThem) {
  write(1000 * kSecondNs, 1001 * kSecondNs);
  write(1000 * kSecondNs, 1007 * kSecondNs);
  const Header first = receive();
  EXPECT_EQ(first.version, 9u);
  EXPECT_EQ(first.seconds, 1007u) << "the first one too, which begins with names";
  EXPECT_GE(first.uptime_ms, 7000u);
  write(1000 * kSecondNs, 1010 * kSecondNs);
  const Header second = receive();
  EXPECT_EQ(second.seconds, 1010u);
  EXPECT_EQ(second.uptime_ms - first.uptime_ms, 3000u);
}

TEST_F(NetFlowOfAnInterface, AMessageThatIsFullIsNotAsLateAsTheRecordThatFindsNoRoomInIt) {
  write(1000 * kSecondNs, 1000 * kSecondNs);
  EXPECT_EQ(receive().seconds, 1000u);
  for (std::uint64_t second = 1001; second < 1200; ++second) {
    write(1000 * kSecondNs, second * kSecondNs);
    if (const auto full = receive_one()) {
      EXPECT_EQ(full->seconds, second - 1);
      EXPECT_EQ(receive().seconds, second);
      return;
    }
  }
  FAIL() << "no message was full";
}

TEST_F(NetFlowOfAnInterface, AMessageBeforeAnyPacketHasTheTimeOfTheSystem) {
  const auto now =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch());
  const Header header = receive();
  EXPECT_NEAR(header.seconds, static_cast<double>(now.count()), 5);
  EXPECT_GT(header.uptime_ms, 0u);
}

}  // namespace
}  // namespace parshall
