// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/file_handle.hpp"
#include "base/result.hpp"
#include "pipeline/capture/source.hpp"

namespace parshall {

/// Opens a pcap, pcapng or ERF capture, `consumers` times: every source delivers every packet of it.
///
/// A regular file is mapped. Anything else ("-" for standard input, a FIFO, a device), and what is compressed with
/// gzip, zstd, lz4 or xz, is read as a stream, and decompressed, by one thread; this call waits until the first bytes
/// have come. Error: the file cannot be opened, is compressed in another way or twice, or is no capture. Damage further
/// on is the sources' damage().
Result<std::vector<std::unique_ptr<PacketSource>>> open_capture_file(const std::string& path, std::size_t consumers);

/// Opens it, and reads nothing. "-": standard input.
Result<FileHandle> open_capture(const std::string& path);

/// The same for an open file descriptor, which this call takes over; `name` is for messages.
Result<std::vector<std::unique_ptr<PacketSource>>> open_capture_descriptor(int fd, const std::string& name,
                                                                           std::size_t consumers);

}  // namespace parshall
