// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/ipfix/ipfix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "pipeline/output/ipfix/target.hpp"
#include "pipeline/output/ipfix/writer.hpp"
#include "pipeline/output/records/reverse_records.hpp"
#include "pipeline/output/transport/address.hpp"
#include "pipeline/output/transport/message_sink.hpp"

namespace parshall {
namespace {

constexpr std::uint16_t kIngressInterface = 10, kSamplingInterval = 34, kInterfaceName = 82, kFlowEndReason = 136,
                        kObservationDomain = 149, kObservationDomainName = 300;
constexpr std::uint16_t kLastSwitched = 21, kFirstSwitched = 22;  ///< NetFlow: ms of the exporter's uptime
constexpr std::size_t kMostTemplates = 1000;

/// Writes a template's field: element, enterprise, length.
void put_element(IpfixBytes& bytes, std::uint16_t element, std::uint16_t length, std::uint32_t pen = 0) {
  constexpr std::uint16_t kEnterprise = 0x8000;
  bytes.number(element | (pen != 0 ? kEnterprise : 0), 2);
  bytes.number(length, 2);
  if (pen != 0) bytes.number(pen, 4);
}

struct Element {
  std::uint16_t element, bytes;
  std::uint32_t pen = 0;
};

/// Makes an options template. The scope comes first (RFC 7011, 3.4.2.2; RFC 3954, 6.1, where it is the whole exporter).
std::vector<std::uint8_t> options_template(std::span<const Element> elements, std::uint16_t scopes,
                                           FlowProtocol protocol) {
  constexpr std::size_t kFieldBytes = 4;
  constexpr std::uint16_t kSystem = 1, kInterface = 2;
  std::vector<std::uint8_t> record;
  IpfixBytes bytes(record);
  bytes.number(0, 2);  // number, set by the writer
  if (protocol == FlowProtocol::netflow9) {
    bytes.number(scopes * kFieldBytes, 2);
    bytes.number((elements.size() - scopes) * kFieldBytes, 2);
    for (const Element& each : elements.first(scopes))
      put_element(bytes, each.element == kIngressInterface ? kInterface : kSystem, each.bytes);
    elements = elements.subspan(scopes);
  } else {
    bytes.number(elements.size(), 2);
    bytes.number(scopes, 2);
  }
  for (const Element& each : elements) put_element(bytes, each.element, each.bytes, each.pen);
  return record;
}

/// Account of every packet and every record. Source: IANA's registry; elements that it lacks are private.
constexpr Element kAccounting[] = {{kObservationDomain, 4},
                                   {50, 8, kOwnPen},   // packets offered
                                   {86, 8},            // packetTotalCount: counted
                                   {54, 8, kOwnPen},   // of these, in flows' records
                                   {135, 8},           // droppedPacketTotalCount: by the device
                                   {164, 8},           // ignoredPacketTotalCount: the remaining packets
                                   {42, 8},            // exportedFlowRecordTotalCount
                                   {41, 8},            // exportedMessageTotalCount
                                   {166, 8},           // notSentFlowTotalCount
                                   {167, 8},           // notSentPacketTotalCount
                                   {59, 8, kOwnPen},   // packets of records that this output was offered
                                   {61, 8, kOwnPen},   // records that were sent, but may not have arrived
                                   {62, 8, kOwnPen},   // packets in them
                                   {60, 1, kOwnPen},   // 1 if the counts cover the whole run
                                   {63, 1, kOwnPen},   // 1 if the records' elements hold all these packets
                                   {58, 1, kOwnPen}};  // 1 if the account balances
/// Counts of records that did not reach the collector, or may not have. They are sent once it is back.
constexpr Element kDeliveries[] = {{kObservationDomain, 4}, {166, 8}, {167, 8}, {61, 8, kOwnPen}, {62, 8, kOwnPen}};
/// Description of a private element (RFC 5610).
constexpr Element kTypes[] = {{346, 4}, {303, 2}, {339, 1}, {344, 1}, {341, IpfixField::kVariable}};

class IpfixExporter final : public Exporter {
 public:
  IpfixExporter(std::unique_ptr<MessageSink> sink, const IpfixTarget& target)
      : writer_(std::move(sink), target.writer),
        target_(target),
        is_netflow_(target.writer.protocol == FlowProtocol::netflow9) {}

  void observe_at(const ObservationPoint& point) override { point_ = point; }

  void begin(std::span<const ColumnInfo> columns) override {
    columns_ = columns;
    std::vector<std::string> left_out;
    fields_ = fields_of(columns, left_out);
    if (is_netflow_) reverse_.emplace(columns);
    for (const std::uint16_t element : {kFlowEndReason, kSamplingInterval})
      if (std::ranges::find(fields_, IpfixElement{0, element}, &IpfixField::ipfix) == fields_.end())
        always_.push_back({element, element == kFlowEndReason ? std::uint16_t{1} : std::uint16_t{4}});
    if (point_) always_.push_back({kIngressInterface, 4});
    if (is_netflow_) always_.insert(always_.end(), {{kFirstSwitched, 4}, {kLastSwitched, 4}});
    accounting_ = add_options(kAccounting);
    writer_.tell_deliveries(add_options(kDeliveries));
    if (point_) name(kIngressInterface, point_->index, kInterfaceName, point_->name);
    if (is_netflow_) return;
    name(kObservationDomain, target_.writer.domain, kObservationDomainName, target_.probe);
    types_ = writer_.add_template(options_template(kTypes, 2, target_.writer.protocol), /*of_options=*/true);
    for (const IpfixField& field : fields_)
      if (field.own().pen == kOwnPen) writer_.add_lasting(types_, type_of(field));
  }

  void records(std::span<const ReportFlow> batch) override {
    for (const ReportFlow& flow : batch) {
      const auto back = is_netflow_ ? reverse_->of(flow) : std::nullopt;
      if (!back) {
        write(flow, {.records = 1, .packets = flow.record.all_packets()});
        continue;
      }
      // Accounts count both records as one.
      if (flow.record.packets != 0) write(flow, {.packets = flow.record.packets});
      write(*back, {.records = 1, .packets = back->record.packets});
    }
  }

  std::vector<std::string> left_out(std::span<const ColumnInfo> columns) const override {
    std::vector<std::string> names;
    fields_of(columns, names);
    return names;
  }

  void accounting(const ReportSummary& summary, const OutputSummary& own) override {
    if (columns_.empty()) return;  // no record ever came
    const Accounting& total = summary.total;
    record_.clear();
    IpfixBytes bytes(record_);
    const std::uint64_t in_flows = total.counted() - total[Counter::kept_out_packets];
    const std::uint64_t values[] = {target_.writer.domain,
                                    total.offered(),
                                    total.counted(),
                                    in_flows,
                                    total.lost(),
                                    total.offered() - total.counted() - total.lost(),
                                    writer_.records_sent(),
                                    writer_.messages_sent(),
                                    own.dropped.records,
                                    own.dropped.packets,
                                    own.offered.packets,
                                    own.unconfirmed.records,
                                    own.unconfirmed.packets,
                                    own.whole_run ? 1u : 2u,
                                    own.packets_in_columns ? 1u : 2u,
                                    total.balanced() ? 1u : 2u};
    static_assert(std::size(values) == std::size(kAccounting));
    for (std::size_t i = 0; i < std::size(values); ++i)
      if (!is_netflow_ || kAccounting[i].pen == 0) bytes.number(values[i], kAccounting[i].bytes);
    writer_.add(accounting_, record_, {});
  }

  void begin_anew() override { writer_.begin_anew(); }
  FlushOutcome flush() override {
    writer_.flush();
    const MessageSink& sink = writer_.sink();
    return {.error = sink.error(),
            .trouble = sink.trouble(),
            .held = writer_.waiting(),
            .not_sent = writer_.take_not_sent(),
            .unconfirmed = writer_.take_unconfirmed(),
            .lost = writer_.take_lost(),
            .reader_gone = sink.reader_gone()};
  }
  void finish() override { writer_.finish(); }
  std::string file() const override { return writer_.sink().file(); }

 private:
  /// Returns the fields that the protocol has elements for. `left_out` gets the names of the other columns.
  std::vector<IpfixField> fields_of(std::span<const ColumnInfo> columns, std::vector<std::string>& left_out) const {
    std::vector<IpfixField> fields = ipfix_fields(columns, target_.times, left_out);
    if (!is_netflow_) return fields;
    std::erase_if(fields, [&](const IpfixField& field) {
      if (field.ipfix.pen == 0 && field.bytes != IpfixField::kVariable) return false;
      for (const ColumnInfo& each : columns.subspan(field.column, field.columns))
        if (field.ipfix.pen != kReversePen || !ReverseRecords::has(columns, each)) left_out.push_back(each.name);
      return true;
    });
    return fields;
  }

  /// Layout of a flow's record: the absent fields (bit i for the i-th nullable field), the IP version, and a mark if it
  /// is longer than NetFlow's clock can express.
  struct Shape {
    static constexpr std::size_t kWord = 64, kMost = 2 * kWord;  ///< more than a schema has; others are 0
    std::array<std::uint64_t, kMost / kWord> absent{};
    bool ipv6 = false, too_long = false;
    auto operator<=>(const Shape&) const = default;
  };

  static bool is_absent(const Shape& shape, std::size_t nullable) noexcept {
    return nullable < Shape::kMost && (shape.absent[nullable / Shape::kWord] >> nullable % Shape::kWord & 1) != 0;
  }

  Shape shape_of(const ReportFlow& flow) const noexcept {
    Shape shape{.ipv6 = flow.record.key.ip_version == 6};
    std::size_t nullable = 0;
    for (const IpfixField& field : fields_) {
      if (!field.nullable) continue;
      if (nullable < Shape::kMost && !flow.values[field.column].present())
        shape.absent[nullable / Shape::kWord] |= std::uint64_t{1} << nullable % Shape::kWord;
      ++nullable;
    }
    return shape;
  }

  /// Calls `use` with each field that flows of a shape have.
  template <class Use>
  void each_field(const Shape& shape, const Use& use) const {
    std::size_t nullable = 0;
    for (const IpfixField& field : fields_) {
      const bool absent = field.nullable && is_absent(shape, nullable);
      nullable += field.nullable;
      if (!absent) use(field);
    }
  }

  /// Calls `use` with each element that all records of a shape have, whatever their columns are.
  template <class Use>
  void each_always(const Shape& shape, const Use& use) const {
    for (const Element& each : always_)
      if (!shape.too_long || (each.element != kFirstSwitched && each.element != kLastSwitched)) use(each);
  }

  std::uint16_t template_of(Shape& shape) {
    if (latest_ && latest_->first == shape) return latest_->second;
    auto known = templates_.find(shape);
    if (known == templates_.end()) {
      if (templates_.size() >= kMostTemplates) shape.absent = {};  // absent values are now 0 or NaN
      known = templates_.find(shape);
    }
    if (known == templates_.end()) {
      std::vector<std::uint8_t> record;
      IpfixBytes bytes(record);
      std::size_t count = 0;
      each_always(shape, [&](const Element&) { ++count; });
      each_field(shape, [&](const IpfixField&) { ++count; });
      bytes.number(0, 2);
      bytes.number(count, 2);
      each_field(shape, [&](const IpfixField& field) {
        put_element(bytes, field.element(shape.ipv6), field.length(shape.ipv6), field.ipfix.pen);
      });
      each_always(shape, [&](const Element& each) { put_element(bytes, each.element, each.bytes); });
      known = templates_.emplace(shape, writer_.add_template(std::move(record), /*of_options=*/false)).first;
    }
    latest_ = *known;
    return known->second;
  }

  void write(const ReportFlow& flow, const OutputSummary::Sum& counts) {
    Shape shape = shape_of(flow);
    shape.too_long = is_netflow_ && !writer_.note_time(flow.record.first_ns, flow.record.last_ns);
    const std::uint16_t id = template_of(shape);
    record_.clear();
    IpfixBytes bytes(record_);
    each_field(shape, [&](const IpfixField& field) {
      bytes.field(field, columns_[field.column], flow.values.subspan(field.column, field.columns));
    });
    each_always(shape, [&](const Element& each) { bytes.number(value_of(each.element, flow.record), each.bytes); });
    writer_.add(id, record_, counts);
  }

  /// Returns the value of an element that every record has, whatever its columns are.
  std::uint64_t value_of(std::uint16_t element, const FlowRecord& record) const noexcept {
    switch (element) {
      case kFlowEndReason:
        return static_cast<std::uint64_t>(record.end_reason);
      case kIngressInterface:
        return point_->index;
      case kFirstSwitched:
        return writer_.uptime_of(record.first_ns);
      case kLastSwitched:
        return writer_.uptime_of(record.last_ns);
      default:
        return 1;  // sampling interval: every packet is counted
    }
  }

  /// Adds a template with one scope, with those elements that the protocol supports.
  std::uint16_t add_options(std::span<const Element> elements) {
    std::vector<Element> known;
    std::ranges::copy_if(elements, std::back_inserter(known),
                         [this](const Element& element) { return !is_netflow_ || element.pen == 0; });
    return writer_.add_template(options_template(known, 1, target_.writer.protocol), /*of_options=*/true);
  }

  /// Sends the name of a number, up to 255 bytes.
  void name(std::uint16_t of, std::uint32_t number, std::uint16_t element, std::string_view name) {
    constexpr std::size_t kMostBytes = 255;
    name = name.substr(0, kMostBytes);
    const Element elements[] = {{of, 4}, {element, static_cast<std::uint16_t>(name.size())}};
    std::vector<std::uint8_t> record;
    IpfixBytes bytes(record);
    bytes.number(number, 4);
    bytes.bytes({reinterpret_cast<const std::uint8_t*>(name.data()), name.size()});
    writer_.add_lasting(
        writer_.add_template(options_template(elements, 1, target_.writer.protocol), /*of_options=*/true),
        std::move(record));
  }

  std::vector<std::uint8_t> type_of(const IpfixField& field) const {
    std::vector<std::uint8_t> record;
    IpfixBytes bytes(record);
    bytes.number(field.own().pen, 4);
    bytes.number(field.own().element, 2);
    bytes.number(ipfix_type(field), 1);
    bytes.number(0, 1);
    bytes.text(field.of_name.empty() ? std::string_view(columns_[field.column].name) : field.of_name);
    return record;
  }

  IpfixWriter writer_;
  IpfixTarget target_;
  bool is_netflow_;
  std::optional<ReverseRecords> reverse_;  ///< for NetFlow, which lacks elements for reverse counts
  std::span<const ColumnInfo> columns_;
  std::vector<IpfixField> fields_;
  std::vector<Element> always_;  ///< elements that every record has behind these
  std::optional<ObservationPoint> point_;
  std::uint16_t accounting_ = 0, types_ = 0;
  std::map<Shape, std::uint16_t> templates_;
  std::optional<std::pair<Shape, std::uint16_t>> latest_;
  std::vector<std::uint8_t> record_;
};

Result<std::unique_ptr<Exporter>> open(std::string_view kind, const std::string& target, FlowProtocol protocol) {
  const auto wrong = [&](const Error& error) {
    return Error{fmt::format("--export {}:{}: {}", kind, target, error.message)};
  };
  auto parsed = IpfixTarget::parse(target, protocol);
  if (!parsed) return wrong(parsed.error());
  auto sink = open_message_sink(parsed->transport);
  if (!sink) return wrong(sink.error());
  return std::unique_ptr<Exporter>(std::make_unique<IpfixExporter>(*std::move(sink), *parsed));
}

}  // namespace

Result<std::unique_ptr<Exporter>> open_ipfix_exporter(const std::string& target) {
  return open("ipfix", target, FlowProtocol::ipfix);
}

Result<std::unique_ptr<Exporter>> open_netflow9_exporter(const std::string& target) {
  return open("netflow9", target, FlowProtocol::netflow9);
}

Result<OutputNeeds> netflow9_needs(const std::string& target) {
  const auto parsed = IpfixTarget::parse(target, FlowProtocol::netflow9);
  if (!parsed) return parsed.error();
  return needs_of(parsed->transport);
}

Result<OutputNeeds> ipfix_needs(const std::string& target) {
  const auto parsed = IpfixTarget::parse(target);
  if (!parsed) return parsed.error();
  return needs_of(parsed->transport);
}

}  // namespace parshall
