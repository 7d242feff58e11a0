// SPDX-License-Identifier: Apache-2.0
#include "pipeline/capture/descriptor_stream.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace parshall {

Result<std::unique_ptr<ByteStream>> DescriptorStream::make(FileHandle file) {
  FileHandle wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake) return Error{fmt::format("no eventfd to be had: {}", std::strerror(errno))};
  return std::unique_ptr<ByteStream>(std::make_unique<DescriptorStream>(std::move(file), std::move(wake)));
}

Result<BytesRead> DescriptorStream::read(std::span<std::uint8_t> room) {
  for (;;) {
    std::array<pollfd, 2> ready{pollfd{file_.get(), POLLIN, 0}, pollfd{wake_.get(), POLLIN, 0}};
    if (::poll(ready.data(), ready.size(), -1) < 0) {
      if (errno == EINTR) return BytesRead{BytesRead::Outcome::interrupted};
      return Error{fmt::format("waiting for more of it failed: {}", std::strerror(errno))};
    }
    if (ready[1].revents != 0) return BytesRead{BytesRead::Outcome::stopped};
    const ssize_t got = ::read(file_.get(), room.data(), room.size());
    if (got > 0) return BytesRead{BytesRead::Outcome::some, static_cast<std::size_t>(got)};
    if (got == 0) return BytesRead{BytesRead::Outcome::end};
    if (errno == EINTR) return BytesRead{BytesRead::Outcome::interrupted};
    if (errno != EAGAIN) return Error{fmt::format("reading failed: {}", std::strerror(errno))};
  }
}

void DescriptorStream::stop() noexcept { ::eventfd_write(wake_.get(), 1); }

}  // namespace parshall
