// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/format.hpp"
#include "pipeline/output/sink.hpp"

namespace parshall {
namespace {

constexpr std::string_view kHeader =
    "ip_version,protocol,src_ip,src_port,dst_ip,dst_port,packets,ip_bytes,wire_bytes,first_seen_ns,last_seen_ns";
constexpr std::size_t kLongestBase = 512, kLongestValue = 80;

char* put_base(char* out, const FlowRecord& flow) noexcept {
  *out++ = static_cast<char>('0' + flow.key.ip_version);
  *out++ = ',';
  out = put_number(out, std::uint64_t{flow.key.protocol});
  *out++ = ',';
  out = put_address(out, flow.key.src_address());
  *out++ = ',';
  out = put_number(out, std::uint64_t{flow.key.src_port()});
  *out++ = ',';
  out = put_address(out, flow.key.dst_address());
  *out++ = ',';
  out = put_number(out, std::uint64_t{flow.key.dst_port()});
  for (const std::uint64_t number : {flow.packets, flow.ip_bytes, flow.wire_bytes, flow.first_ns, flow.last_ns}) {
    *out++ = ',';
    out = put_number(out, number);
  }
  return out;
}

char* put_value(char* out, const ReportColumn& column, std::optional<double> value) noexcept {
  if (!value) return out;
  if (column.values.empty()) return put_number(out, *value);
  const std::string& name = column.name_of(*value);
  return std::copy(name.begin(), name.end(), out);
}

/// One line per flow. With several reports, an empty line parts them and each begins with the header.
class CsvSink final : public ReportSink {
 public:
  void write(const Report& report, Output& output) override {
    if (written_) output.write("\n");
    written_ = true;
    output.write(kHeader);
    for (const ReportColumn& column : report.columns) {
      output.write(",");
      output.write(column.name);
    }
    output.write("\n");
    const std::size_t longest = kLongestBase + kLongestValue * report.columns.size();
    report.flows([&](const ReportFlow& flow) {
      char* at = put_base(output.reserve(longest), flow.record);
      for (std::size_t i = 0; i < report.columns.size(); ++i) {
        *at++ = ',';
        at = put_value(at, report.columns[i], flow.values[i]);
      }
      *at++ = '\n';
      output.commit(at);
    });
    output.flush();
  }

 private:
  bool written_ = false;
};

}  // namespace

std::unique_ptr<ReportSink> make_csv_sink(const SinkOptions&) { return std::make_unique<CsvSink>(); }

}  // namespace parshall
