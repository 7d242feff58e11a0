// SPDX-License-Identifier: Apache-2.0
#include "app/send_options.hpp"

namespace parshall::cli {

void declare(Command command, SendOptions& o) {
  command.add_option("-g,--generate", o.traffic, "Built-in traffic, such as flows=1000000,dist=zipf:1.1,size=64")
      ->group("What");
  command.add_option("-r,--read", o.capture, "Capture file (pcap, pcapng, ERF, also compressed), - for standard input")
      ->group("What");
  command.add_option("--loops", o.loops, "Number of times to send the capture; 0: repeat until stopped")
      ->capture_default_str()
      ->group("What");
  command
      .add_flag("--fresh-flows", o.fresh_flows,
                "Change the addresses in each loop after the first, so that its flows are new")
      ->group("What");
  command
      .add_option("--cap", o.cap, "Longest frame in bytes, with FCS: longer ones are cut, and their headers adjusted")
      ->check(in_range(SendOptions::kFrameBytes.least, SendOptions::kFrameBytes.most))
      ->group("What");
  command.add_option("--pad", o.pad, "Shortest frame in bytes, with FCS: shorter ones are padded")
      ->check(in_range(SendOptions::kFrameBytes.least, SendOptions::kFrameBytes.most))
      ->group("What");
  command
      .add_flag("--fix-checksums", o.fix_checksums, "Correct all checksums, also those that are wrong in the capture")
      ->group("What");
  command.add_option("--src-mac", o.source_mac, "Source MAC address for all frames of a capture")->group("What");
  command.add_option("--dst-mac", o.destination_mac, "Destination MAC address for all frames of a capture")
      ->group("What");

  command.add_option("-i,--interface", o.interface, "Kernel interface, PCI address, or vdev:NAME,ARGS")->group("Where");
  command.add_option("-w,--write", o.file, "Capture file to write, - for standard output")->group("Where");
  command.add_flag("--null", o.nowhere, "Write frames to memory only, and send none")->group("Where");
  command.add_option("--via", o.via, "Method of sending on a kernel interface")
      ->check(among({"af_packet", "af_xdp"}))
      ->capture_default_str()
      ->group("Where");
  command.add_option("--eal", o.eal, "More DPDK EAL arguments, in one string")->group("Where");
  command.add_option("--wait", o.wait, "Longest time to wait until the link is up")
      ->capture_default_str()
      ->group("Where");

  command
      .add_option("--rate", o.rate,
                  "asap; pps, kpps, Mpps; bps to Gbps on the line, with preamble, FCS and gap; % of the line rate; or "
                  "2x: multiple of the capture's own speed (default: asap with -g to a device, else 1x)")
      ->group("When");
  command.add_option("--ramp", o.ramp, "FROM:TIME, such as 1kpps:10s: increase the rate gradually")->group("When");
  command.add_option("--burst", o.burst, "Frames per burst, with pauses between bursts that keep the rate")
      ->check(in_range(SendOptions::kBurst.least, SendOptions::kBurst.most))
      ->capture_default_str()
      ->group("When");
  command.add_option("--count", o.count, "Stop after this number of packets")->group("When");
  command.add_option("--duration", o.duration, "Stop after this time")->group("When");
  command.add_option("--line-rate", o.line_rate, "Line rate, such as 10Gbps, if the device does not report it")
      ->group("When");
  command.add_flag("--prompt", o.prompt, "Read changes of the traffic and the rate from standard input during the run")
      ->group("When");
  command.add_option("--core", o.core, "Core to pin the sending thread to")->check(non_negative())->group("When");

  command.add_flag("--per-flow", o.per_flow, "Report each flow sent, as watch does")->group("Report");
  command.add_option("--format", o.format, "text, json, or csv with --per-flow")
      ->check(among({"text", "json", "csv"}))
      ->capture_default_str()
      ->group("Report");
  command.add_option("-o,--output", o.output, "File for the report")->capture_default_str()->group("Report");
  command.add_option("--top", o.top, "Flows to show; 0: all (default: 20 in text, else all)")
      ->check(non_negative())
      ->group("Report");
  command.add_flag("-q,--quiet", o.quiet, "Print only errors")->group("Report");
}

}  // namespace parshall::cli
