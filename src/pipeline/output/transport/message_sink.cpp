// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/transport/message_sink.hpp"

#include <utility>

#include "pipeline/output/files/target_file.hpp"
#include "pipeline/output/transport/stream_sink.hpp"
#include "pipeline/output/transport/udp_sink.hpp"

namespace parshall {
namespace {

class FileSink final : public MessageSink {
 public:
  explicit FileSink(std::unique_ptr<Output> output) : output_(std::move(output)) { output_->need_what_was_before(); }

  bool send(std::span<const std::uint8_t> message, const OutputSummary::Sum&) override {
    output_->write({reinterpret_cast<const char*>(message.data()), message.size()});
    return true;
  }
  void begin_anew() override { output_->begin_anew(); }
  Session session() noexcept override { return output_->take_emptied() ? Session::begins : Session::goes_on; }
  bool flush() override {
    output_->flush();
    return !output_->take_lost();
  }
  std::string trouble() const override { return output_->trouble(); }
  void finish() override { output_->finish(); }
  std::string file() const override { return output_->name(); }
  const std::optional<Error>& error() const noexcept override { return output_->error(); }
  bool reader_gone() const noexcept override { return output_->reader_gone(); }

 private:
  std::unique_ptr<Output> output_;
};

}  // namespace

const std::optional<Error>& MessageSink::error() const noexcept {
  static const std::optional<Error> none;
  return none;
}

Result<std::unique_ptr<MessageSink>> open_message_sink(const Transport& transport) {
  if (transport.kind == Transport::Kind::udp) return open_udp_sink(transport);
  if (transport.kind != Transport::Kind::file) return open_stream_sink(transport);
  auto output = open_target(transport.path);
  if (!output) return output.error();
  return std::unique_ptr<MessageSink>(std::make_unique<FileSink>(*std::move(output)));
}

}  // namespace parshall
