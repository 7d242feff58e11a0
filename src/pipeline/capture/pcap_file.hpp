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

/// Opens a pcap, pcapng or ERF capture for `consumers` sources, each of which delivers every packet.
///
/// A regular file is mapped. One thread reads everything else as a stream, and decompresses it: "-" for standard input,
/// a FIFO, a device, or data compressed with gzip, zstd, lz4 or xz. The call waits for the first bytes of a stream.
/// Error: the file cannot be opened, is compressed in another way or twice, or is not a capture. Damage further on is
///        in the sources' damage().
Result<std::vector<std::unique_ptr<PacketSource>>> open_capture_file(const std::string& path, std::size_t consumers);

/// Opens the file without reading it. "-" is standard input.
Result<FileHandle> open_capture(const std::string& path);

/// Does the same for an open file descriptor, which this call takes over. `name` is for messages.
Result<std::vector<std::unique_ptr<PacketSource>>> open_capture_descriptor(int fd, const std::string& name,
                                                                           std::size_t consumers);

}  // namespace parshall
