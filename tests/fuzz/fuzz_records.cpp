// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "arrow_reading.hpp"
#include "base/file_handle.hpp"
#include "ipfix_reading.hpp"
#include "pipeline/output/arrow/column.hpp"
#include "pipeline/output/columnar.hpp"
#include "pipeline/output/exporters.hpp"
#include "pipeline/output/ipfix/fields.hpp"
#include "pipeline/output/parquet/file.hpp"
#include "pipeline/output/put_value.hpp"
#include "targets.hpp"
#include "verify/exported_file.hpp"

namespace parshall::fuzz {
namespace {

constexpr std::size_t kMostRecords = 300;

const Schema& schema_for(std::uint8_t choice) {
  static const std::vector<Schema> schemas = [] {
    std::vector<Schema> made(1);
    for (const std::vector<std::string>& names : {std::vector<std::string>{"all"},
                                                  {"identity", "totals", "community_id"},
                                                  {"names"},
                                                  {"first_sizes", "first_times", "first_flags", "duration_ns", "rate"}})
      if (auto schema = Schema::make(names, {})) made.push_back(*std::move(schema));
    return made;
  }();
  return schemas[choice % schemas.size()];
}

Value value_of(const ColumnInfo& column, Input& in) {
  if (column.nullable && in.byte() % 4 == 0) return {};
  switch (column.type.value) {
    case ValueType::unsigned_integer:
    case ValueType::flags: {
      const std::uint64_t number = in.number(column.type.bits / 8);
      return column.type.value == ValueType::flags ? Value::of_flags(number) : Value::of_unsigned(number);
    }
    case ValueType::signed_integer:
      return Value::of_signed(static_cast<std::int64_t>(in.number(8)));
    case ValueType::time:
      return Value::of_time(in.number(8));
    case ValueType::real: {
      const auto number = std::bit_cast<double>(in.number(8));
      return Value::of_real(std::fabs(number) < 1e300 ? number : 0.25);
    }
    case ValueType::address: {
      const Block bytes(in.take(16));
      return bytes.bytes().size() == 16 ? Value::of_address(bytes.bytes())
                                        : Value::of_address(std::array<std::uint8_t, 4>{10});
    }
    case ValueType::enumeration:
      return column.values.empty() ? Value() : Value::of_enumeration(in.byte() % column.values.size());
    case ValueType::boolean:
      return Value::of_bool((in.byte() & 1) != 0);
    case ValueType::community_id: {
      std::array<std::uint8_t, Value::kDigestBytes> digest{};
      for (std::uint8_t& byte : digest) byte = in.byte();
      return Value::of_community_id(digest);
    }
    case ValueType::text: {
      static const std::string kLongest(kMostText, '"');
      const std::string_view texts[] = {"www.example.org", "a,b", "\"", "\\x41", " a ", kLongest};
      return Value::of_text(texts[in.byte() % std::size(texts)]);
    }
  }
  return {};
}

/// Records as the input has them, with their values, as an output gets them.
struct Records {
  std::span<const ColumnInfo> columns;
  std::vector<FlowRecord> records;
  std::vector<Value> values;
  std::vector<ReportFlow> flows;
  std::uint64_t packets = 0;

  Records(const Schema& schema, Input& in) : columns(schema.columns()) {
    while (!in.empty() && records.size() < kMostRecords) add(schema, in);
    for (std::size_t i = 0; i < records.size(); ++i)
      flows.push_back({records[i], std::span(values).subspan(i * columns.size(), columns.size())});
  }

 private:
  void add(const Schema& schema, Input& in) {
    FlowRecord record;
    const std::uint8_t what = in.byte();
    record.key.ip_version = (what & 1) != 0 ? 6 : 4;
    record.key.protocol = in.byte();
    for (std::size_t i = 0; i < 2 * record.key.address_bytes(); ++i)
      record.key.address[i] = (what & 2) != 0 ? in.byte() : static_cast<std::uint8_t>(i);
    record.key.src_port_bytes = {in.byte(), in.byte()};
    record.packets = in.number((what & 4) != 0 ? 6 : 1);
    record.ip_bytes = in.number((what & 8) != 0 ? 8 : 2);
    record.wire_bytes = record.ip_bytes + in.byte();
    record.first_ns = in.number(8);
    record.last_ns = record.first_ns + in.number(4);
    record.tcp_flags = static_cast<std::uint16_t>(in.number(2) & 0x1FF);
    record.end_reason = static_cast<EndReason>(1 + in.byte() % 5);
    packets += record.packets;
    records.push_back(record);
    const std::size_t begin = values.size();
    values.resize(begin + columns.size());
    schema.read(record, {}, {}, std::span(values).subspan(begin));
    for (std::size_t i = kBaseColumns; i < columns.size(); ++i) values[begin + i] = value_of(columns[i], in);
  }
};

/// An account in which these records are all there is.
ReportSummary summary_of(const Records& all) {
  ReportSummary summary{.source = "fuzz", .number = 1, .final = true};
  for (const Counter counter : {Counter::polled, Counter::counted, Counter::arrived, Counter::ended_record_packets})
    summary.total.add(counter, all.packets);
  return summary;
}

/// What an exporter writes, in memory.
std::vector<std::uint8_t> exported(std::string_view kind, const Records& all, std::size_t batch) {
  const FileHandle file(::memfd_create("fuzz", MFD_CLOEXEC));
  auto exporter = open_exporter(*find_exporter(kind), fmt::format("/proc/self/fd/{}", file.get()));
  require(exporter.has_value());
  const OutputSummary::Sum sum{.records = all.records.size(), .packets = all.packets};
  const OutputSummary own{.name = fmt::format("{}:fuzz", kind), .takes_records = true, .offered = sum, .written = sum};
  ReportSummary summary = summary_of(all);
  summary.outputs.push_back(own);
  (*exporter)->begin(all.columns);
  for (std::size_t at = 0; at < all.flows.size(); at += batch)
    (*exporter)->records(std::span(all.flows).subspan(at, std::min(batch, all.flows.size() - at)));
  (*exporter)->finish();
  (*exporter)->accounting(summary, own);
  const FlushOutcome outcome = (*exporter)->flush();
  require(!outcome.error);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(::lseek(file.get(), 0, SEEK_END)));
  require(::pread(file.get(), bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  return bytes;
}

void check_account(const ExportedFile& read, const Records& all) {
  require(read.problem.empty() && read.records == all.records.size() && read.packets == all.packets);
  require(read.account && read.account->balanced && read.account->records_written == all.records.size() &&
          read.account->packets_written == all.packets && read.account->counted_in_flows == all.packets);
}

std::string text_of_value(const ColumnInfo& column, const Value& value) {
  std::string text(longest_value(column), '\0');
  text.resize(static_cast<std::size_t>(put_value(text.data(), column, value) - text.data()));
  return text;
}

/// Real numbers are written with 15 digits.
bool is_near(double a, double b) { return a == b || std::fabs(a - b) <= 1e-14 * std::fabs(b); }

bool is_same(const nlohmann::json& json, const ColumnInfo& column, const Value& value) {
  if (!value.present()) return json.is_null();
  if (column.is_text()) return json.is_string() && json.get<std::string>() == text_of_value(column, value);
  if (column.type.value == ValueType::boolean) return json.is_boolean() && json.get<bool>() == value.as_bool();
  if (column.type.value == ValueType::real) return json.is_number() && is_near(json.get<double>(), value.as_real());
  if (column.type.value == ValueType::signed_integer)
    return json.is_number_integer() && json.get<std::int64_t>() == value.as_signed();
  return json.is_number_unsigned() && json.get<std::uint64_t>() == value.as_unsigned();
}

void check_json(const Records& all, std::size_t batch) {
  const auto bytes = exported("jsonl", all, batch);
  check_account(read_json_lines(bytes), all);
  std::string_view text = text_of(bytes);
  for (const ReportFlow& flow : all.flows) {
    const std::size_t end = text.find('\n');
    const auto object = nlohmann::json::parse(text.substr(0, end), nullptr, false);
    require(object.is_object() && object.contains("flow") && object["flow"].size() == all.columns.size());
    for (std::size_t i = 0; i < all.columns.size(); ++i)
      require(is_same(object["flow"][all.columns[i].name], all.columns[i], flow.values[i]));
    text.remove_prefix(end + 1);
  }
}

void check_ipfix(const Records& all, std::size_t batch) {
  const auto bytes = exported("ipfix", all, batch);
  check_account(read_ipfix(bytes), all);
  std::vector<std::string> left_out;
  const auto fields = ipfix_fields(all.columns, IpfixTimes::ms, left_out);
  const IpfixReading reading(bytes);
  require(reading.flows().size() == all.flows.size());
  for (std::size_t i = 0; i < all.flows.size(); ++i) {
    const bool ipv6 = all.records[i].key.ip_version == 6;
    for (const IpfixField& field : fields) {
      const Value& value = all.flows[i].values[field.column];
      const auto at = reading.flows()[i].find({field.ipfix.pen, field.element(ipv6)});
      if (at == reading.flows()[i].end()) {
        require(field.nullable && !value.present());
      } else if (value.present() && field.encoding == IpfixEncoding::integer) {
        std::uint64_t number = 0;
        for (const std::uint8_t byte : at->second) number = number << 8 | byte;
        require(at->second.size() == field.bytes && number == value.as_unsigned());
      } else if (value.present() && field.encoding == IpfixEncoding::address) {
        require(std::ranges::equal(at->second, value.as_address()));
      }
    }
  }
}

/// The arrays as Arrow has them, read by its layout.
void check_arrow_column(const Records& all, std::size_t column) {
  const ColumnInfo& info = all.columns[column];
  ArrowColumn arrow(info);
  arrow.add(all.values, all.columns.size(), column);
  const ArrowBuffers buffers = arrow.take();
  require(buffers.rows == static_cast<std::int64_t>(all.flows.size()));
  std::int64_t absent = 0;
  for (std::size_t row = 0; row < all.flows.size(); ++row) {
    const Value& value = all.flows[row].values[column];
    const bool present = buffers.absent == 0 || (buffers.present[row / 8] >> row % 8 & 1) != 0;
    require(present == (value.present() || !info.nullable));
    absent += !present;
    if (!value.present()) continue;
    if (info.has_own_texts()) {
      std::int32_t ends[2];
      require(buffers.offsets.size() == 4 * (all.flows.size() + 1));
      std::memcpy(ends, buffers.offsets.data() + 4 * row, sizeof ends);
      require(ends[0] <= ends[1] && static_cast<std::size_t>(ends[1]) <= buffers.data.size());
      require(buffers.data.substr(ends[0], ends[1] - ends[0]) == text_of_value(info, value));
    } else if (info.type.value == ValueType::boolean) {
      require((buffers.data[row / 8] >> row % 8 & 1) == value.as_bool());
    } else {
      const std::size_t bytes = info.type.value == ValueType::enumeration ? 2 : info.type.bits / 8;
      require(buffers.data.size() == bytes * all.flows.size());
      std::uint64_t word = 0;
      std::memcpy(&word, buffers.data.data() + bytes * row, bytes);
      if (info.type.value == ValueType::real && bytes == 4)
        require(static_cast<std::uint32_t>(word) == std::bit_cast<std::uint32_t>(static_cast<float>(value.as_real())));
      else
        require(word == (bytes == 8 ? value.as_unsigned() : value.as_unsigned() & ((1ull << 8 * bytes) - 1)));
    }
  }
  require(absent == buffers.absent);
}

void check_arrow(const Records& all, std::size_t batch) {
  require(rows_of_arrow_stream(exported("arrow", all, batch)) == static_cast<std::int64_t>(all.flows.size()));
  for (std::size_t column = 0; column < all.columns.size(); ++column) check_arrow_column(all, column);
}

/// In a file of memory: it takes its name once it is whole.
void check_parquet(const Records& all) {
  const std::string path = fmt::format("/dev/shm/parshall-fuzz-{}.parquet", ::getpid());
  const std::vector<ColumnInfo> columns = columnar(all.columns);
  auto file = ParquetFile::create(path, columns, 1);
  if (!file) return;  // no such file system here
  for (const ReportFlow& flow : all.flows) {
    for (std::size_t i = 0; i < columns.size(); ++i) (*file)->column(i).add(flow.values[i]);
    (*file)->end_row();
  }
  require(!(*file)->finish({{"parshall.run", "fuzz"},
                            {"parshall.records", std::to_string(all.records.size())},
                            {"parshall.packets", std::to_string(all.packets)}}));
  const std::size_t size = static_cast<std::size_t>((*file)->bytes());
  std::vector<std::uint8_t> bytes(size);
  std::FILE* const written = std::fopen(path.c_str(), "rb");
  require(written != nullptr && std::fread(bytes.data(), 1, size, written) == size && std::fgetc(written) == EOF);
  std::fclose(written);
  ::unlink(path.c_str());
  const ExportedFile read = read_parquet(bytes);
  require(read.problem.empty() && read.run == "fuzz");
  require(read.records == all.records.size() && read.packets == all.packets);
}

}  // namespace

/// Input: which columns, which output and how many records go at a time, records and the values of what was asked for.
/// What is read again has them all, as they were.
void fuzz_records(Bytes input) {
  Input in(input);
  const std::uint8_t choice = in.byte(), how = in.byte();
  const std::size_t batch = 1 + how / 4;
  const Records all(schema_for(choice), in);
  switch (how % 4) {
    case 0:
      return check_json(all, batch);
    case 1:
      return check_ipfix(all, batch);
    case 2:
      return check_arrow(all, batch);
    default:
      check_parquet(all);
  }
}

}  // namespace parshall::fuzz
