// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/file_handle.hpp"
#include "pipeline/output/ipfix/ipfix.hpp"
#include "pipeline/output/records/schema.hpp"

namespace parshall {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;

/// Header of a message (RFC 3954, 5.1), and the message.
struct Header {
  std::uint32_t version, uptime_ms, seconds;
  std::vector<std::uint8_t> message = {};

  /// When the exporter began, as collectors take it from here.
  std::int64_t began_ms() const { return std::int64_t{seconds} * 1000 - uptime_ms; }
};

std::uint64_t number_at(std::span<const std::uint8_t> from, std::size_t at, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) value = value << 8 | from[at + i];
  return value;
}

/// Times of a record, since 1970: as they are told (152, 153), and by the uptime (22, 21) where it is there.
struct Times {
  std::int64_t first_ms = 0, last_ms = 0;
  std::optional<std::int64_t> first_by_uptime, last_by_uptime;
};

/// Reads what is written there, of templates and flow sets (RFC 3954, 5.2 and 5.3).
class TimesReader {
 public:
  std::vector<Times> read(const Header& header) {
    std::vector<Times> times;
    const std::span<const std::uint8_t> message = header.message;
    for (std::size_t at = kHeader; at < message.size();) {
      const auto set = static_cast<std::uint16_t>(number_at(message, at, 2));
      const std::size_t length = number_at(message, at + 2, 2);
      const auto body = message.subspan(at + 4, length - 4);
      if (set == 0) learn(body);
      if (const auto known = templates_.find(set); known != templates_.end()) put(header, known->second, body, times);
      at += length;
    }
    return times;
  }

 private:
  using Fields = std::vector<std::pair<std::uint16_t, std::size_t>>;
  static constexpr std::size_t kHeader = 20;

  void learn(std::span<const std::uint8_t> body) {
    for (std::size_t at = 0; at + 4 <= body.size();) {
      const auto id = static_cast<std::uint16_t>(number_at(body, at, 2));
      const std::size_t count = number_at(body, at + 2, 2);
      at += 4;
      Fields fields;
      for (std::size_t i = 0; i < count; ++i, at += 4)
        fields.emplace_back(number_at(body, at, 2), number_at(body, at + 2, 2));
      if (id >= 256) templates_[id] = fields;
    }
  }

  static void put(const Header& header, const Fields& fields, std::span<const std::uint8_t> body,
                  std::vector<Times>& times) {
    std::size_t length = 0;
    for (const auto& field : fields) length += field.second;
    for (std::size_t at = 0; at + length <= body.size();) {
      Times one;
      for (const auto& [element, bytes] : fields) {
        const auto value = static_cast<std::int64_t>(number_at(body, at, bytes));
        at += bytes;
        if (element == 152) one.first_ms = value;
        if (element == 153) one.last_ms = value;
        if (element == 22) one.first_by_uptime = header.began_ms() + value;
        if (element == 21) one.last_by_uptime = header.began_ms() + value;
      }
      times.push_back(one);
    }
  }

  std::map<std::uint16_t, Fields> templates_;
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
    const auto bytes = ::recv(socket_.get(), message.data(), message.size(), MSG_DONTWAIT);
    if (bytes < 20) return std::nullopt;
    const auto number = [&](std::size_t at, std::size_t of) {
      return static_cast<std::uint32_t>(number_at(message, at, of));
    };
    return Header{number(0, 2), number(4, 4), number(8, 4), {message.begin(), message.begin() + bytes}};
  }

  /// Reads the times of all that was written, and expects those by the uptime to be the same.
  std::vector<Times> expect_times_that_agree() {
    exporter_->flush();
    std::vector<Times> all;
    while (const auto header = receive_one()) {
      for (const Times& times : reader_.read(*header)) {
        EXPECT_EQ(times.first_by_uptime.value_or(times.first_ms), times.first_ms);
        EXPECT_EQ(times.last_by_uptime.value_or(times.last_ms), times.last_ms);
        all.push_back(times);
      }
    }
    return all;
  }

  FileHandle socket_{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  Schema schema_;
  std::unique_ptr<Exporter> exporter_;
  TimesReader reader_;
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

TEST_F(NetFlowOfAnInterface, TimesByTheUptimeAreThoseOfTheRecord) {
  constexpr std::uint64_t kStart = 1'700'000'000 * kSecondNs, kMsNs = 1'000'000, kWeekNs = 7 * 86'400 * kSecondNs;
  for (const std::uint64_t ms : {0, 100, 200, 900}) write(kStart + ms * kMsNs, kStart + (ms + 1) * kMsNs);
  for (int weeks = 20; weeks >= -20; --weeks)  // most of them far before the first that was written, or behind it
    write(kStart + static_cast<std::uint64_t>(weeks) * kWeekNs + 999 * kMsNs,
          kStart + static_cast<std::uint64_t>(weeks + 1) * kWeekNs + 1);
  for (int day = 0; day < 150; ++day)  // as of a run that goes on
    write(kStart + static_cast<std::uint64_t>(day) * kWeekNs / 7,
          kStart + static_cast<std::uint64_t>(day) * kWeekNs / 7);
  const auto all = expect_times_that_agree();
  EXPECT_EQ(all.size(), 4u + 41 + 150);
  for (const Times& times : all) EXPECT_TRUE(times.first_by_uptime && times.last_by_uptime);
}

TEST_F(NetFlowOfAnInterface, TimesOf1970AreTimesToo) {
  write(0, 0);
  write(1, 900'000'000);
  EXPECT_EQ(expect_times_that_agree().size(), 2u);
}

TEST_F(NetFlowOfAnInterface, ARecordThatIsLongerThanTheUptimeCanTellHasItsTimesAlone) {
  constexpr std::uint64_t kDayNs = 86'400 * kSecondNs;
  write(1000 * kDayNs, 1050 * kDayNs);
  write(1049 * kDayNs, 1050 * kDayNs);
  const auto all = expect_times_that_agree();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_FALSE(all[0].first_by_uptime || all[0].last_by_uptime);
  EXPECT_TRUE(all[1].first_by_uptime && all[1].last_by_uptime);
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
