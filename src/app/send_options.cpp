// SPDX-License-Identifier: Apache-2.0
#include "app/send_options.hpp"

namespace parshall::cli {

void declare(Command command, SendOptions& o) {
  command.add_option("-g,--generate", o.traffic, "Built-in traffic, such as flows=1000000,dist=zipf:1.1,size=64")
      ->group("What");
  command.add_option("-r,--read", o.capture, "Capture file (pcap, pcapng, ERF, also compressed), - for standard input")
      ->group("What");
  command.add_option("--loops", o.loops, "How often the capture is sent; 0: until something ends it")
      ->capture_default_str()
      ->group("What");
  command.add_flag("--fresh-flows", o.fresh_flows, "Other addresses in each loop but the first: other flows")
      ->group("What");
  command.add_option("--cap", o.cap, "Longest frame in bytes, with FCS: the others are cut, and their headers say so")
      ->check(in_range(SendOptions::kFrameBytes.least, SendOptions::kFrameBytes.most))
      ->group("What");
  command.add_option("--pad", o.pad, "Shortest frame in bytes, with FCS: the others are padded")
      ->check(in_range(SendOptions::kFrameBytes.least, SendOptions::kFrameBytes.most))
      ->group("What");
  command.add_flag("--fix-checksums", o.fix_checksums, "Also those that were wrong in the capture")->group("What");
  command.add_option("--src-mac", o.source_mac, "Source address of all frames of a capture")->group("What");
  command.add_option("--dst-mac", o.destination_mac, "Destination address of all frames of a capture")->group("What");

  command.add_option("-i,--interface", o.interface, "Kernel interface, PCI address, or vdev:NAME,ARGS")->group("Where");
  command.add_option("-w,--write", o.file, "Capture file to write, - for standard output")->group("Where");
  command.add_flag("--null", o.nowhere, "Frames are written to memory, and go nowhere")->group("Where");
  command.add_option("--via", o.via, "How to send by a kernel interface")
      ->check(among({"af_packet", "af_xdp"}))
      ->capture_default_str()
      ->group("Where");
  command.add_option("--eal", o.eal, "More DPDK EAL arguments, in one string")->group("Where");
  command.add_option("--wait", o.wait, "How long to wait for the other end of the link")
      ->capture_default_str()
      ->group("Where");

  command
      .add_option("--rate", o.rate,
                  "asap, pps, kpps, Mpps; bps to Gbps, with all that a line needs for a frame; % of the line; or 2x: "
                  "so many times a capture's own speed (default: asap with -g to a device, else 1x)")
      ->group("When");
  command.add_option("--ramp", o.ramp, "FROM:TIME, such as 1kpps:10s: reach the rate little by little")->group("When");
  command.add_option("--burst", o.burst, "Frames that are sent at once, with pauses that keep the rate")
      ->check(in_range(SendOptions::kBurst.least, SendOptions::kBurst.most))
      ->capture_default_str()
      ->group("When");
  command.add_option("--count", o.count, "Stop after so many packets")->group("When");
  command.add_option("--duration", o.duration, "Stop after this time")->group("When");
  command.add_option("--line-rate", o.line_rate, "Speed of the line, such as 10Gbps, where the device does not tell")
      ->group("When");
  command.add_flag("--prompt", o.prompt, "Change the traffic and the rate while it runs, from standard input")
      ->group("When");
  command.add_option("--core", o.core, "Core to pin the sending thread to")->check(non_negative())->group("When");

  command.add_flag("--per-flow", o.per_flow, "Report each flow that was sent, as watch does")->group("Report");
  command.add_option("--format", o.format, "text, json, or csv with --per-flow")
      ->check(among({"text", "json", "csv"}))
      ->capture_default_str()
      ->group("Report");
  command.add_option("-o,--output", o.output, "File for the report")->capture_default_str()->group("Report");
  command.add_option("--top", o.top, "Flows to show; 0 is all (default: 20 in text, else all)")
      ->check(non_negative())
      ->group("Report");
  command.add_flag("-q,--quiet", o.quiet, "No messages but errors")->group("Report");
}

}  // namespace parshall::cli
