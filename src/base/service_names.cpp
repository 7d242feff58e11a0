// SPDX-License-Identifier: Apache-2.0
#include "base/service_names.hpp"

#include <algorithm>
#include <iterator>

namespace parshall {
namespace {

enum Transport : std::uint8_t { kTcp = 1, kUdp = 2, kSctp = 4, kBoth = kTcp | kUdp };

struct Service {
  std::uint16_t port;
  std::uint8_t transports;
  std::string_view name;
};

// In the order of ports.
constexpr Service kServices[] = {
    {7, kBoth, "echo"},
    {9, kBoth, "discard"},
    {13, kBoth, "daytime"},
    {19, kBoth, "chargen"},
    {20, kTcp, "ftp-data"},
    {21, kTcp, "ftp"},
    {22, kBoth, "ssh"},
    {23, kTcp, "telnet"},
    {25, kTcp, "smtp"},
    {37, kBoth, "time"},
    {43, kTcp, "whois"},
    {49, kBoth, "tacacs"},
    {53, kBoth, "domain"},
    {67, kUdp, "bootps"},
    {68, kUdp, "bootpc"},
    {69, kUdp, "tftp"},
    {79, kTcp, "finger"},
    {80, kBoth, "http"},
    {88, kBoth, "kerberos"},
    {102, kTcp, "iso-tsap"},
    {110, kTcp, "pop3"},
    {111, kBoth, "sunrpc"},
    {113, kTcp, "ident"},
    {119, kTcp, "nntp"},
    {123, kUdp, "ntp"},
    {135, kBoth, "epmap"},
    {137, kBoth, "netbios-ns"},
    {138, kUdp, "netbios-dgm"},
    {139, kTcp, "netbios-ssn"},
    {143, kTcp, "imap"},
    {161, kUdp, "snmp"},
    {162, kUdp, "snmptrap"},
    {177, kUdp, "xdmcp"},
    {179, kTcp, "bgp"},
    {194, kTcp, "irc"},
    {319, kUdp, "ptp-event"},
    {320, kUdp, "ptp-general"},
    {389, kBoth, "ldap"},
    {427, kBoth, "svrloc"},
    {443, kBoth, "https"},
    {445, kTcp, "microsoft-ds"},
    {464, kBoth, "kpasswd"},
    {465, kTcp, "submissions"},
    {500, kUdp, "isakmp"},
    {502, kTcp, "mbap"},
    {512, kTcp, "exec"},
    {513, kTcp, "login"},
    {514, kTcp, "shell"},
    {514, kUdp, "syslog"},
    {515, kTcp, "printer"},
    {520, kUdp, "router"},
    {521, kUdp, "ripng"},
    {546, kUdp, "dhcpv6-client"},
    {547, kUdp, "dhcpv6-server"},
    {548, kTcp, "afpovertcp"},
    {554, kBoth, "rtsp"},
    {587, kTcp, "submission"},
    {631, kBoth, "ipp"},
    {636, kBoth, "ldaps"},
    {646, kBoth, "ldp"},
    {853, kBoth, "domain-s"},
    {873, kTcp, "rsync"},
    {989, kTcp, "ftps-data"},
    {990, kTcp, "ftps"},
    {993, kTcp, "imaps"},
    {995, kTcp, "pop3s"},
    {1080, kTcp, "socks"},
    {1194, kBoth, "openvpn"},
    {1433, kTcp, "ms-sql-s"},
    {1434, kUdp, "ms-sql-m"},
    {1521, kTcp, "oracle"},
    {1645, kUdp, "radius"},
    {1646, kUdp, "radius-acct"},
    {1701, kUdp, "l2tp"},
    {1723, kTcp, "pptp"},
    {1812, kUdp, "radius"},
    {1813, kUdp, "radius-acct"},
    {1883, kTcp, "mqtt"},
    {1900, kUdp, "ssdp"},
    {1935, kTcp, "rtmp"},
    {1985, kUdp, "hsrp"},
    {2049, kBoth, "nfs"},
    {2055, kUdp, "netflow"},
    {2123, kUdp, "gtp-control"},
    {2152, kUdp, "gtp-user"},
    {2181, kTcp, "zookeeper"},
    {2375, kTcp, "docker"},
    {2376, kTcp, "docker-s"},
    {2379, kTcp, "etcd-client"},
    {2380, kTcp, "etcd-server"},
    {2905, kSctp, "m3ua"},
    {3128, kTcp, "squid"},
    {3205, kTcp, "isns"},
    {3260, kTcp, "iscsi-target"},
    {3268, kTcp, "msft-gc"},
    {3269, kTcp, "msft-gc-ssl"},
    {3306, kTcp, "mysql"},
    {3389, kBoth, "ms-wbt-server"},
    {3478, kBoth, "stun"},
    {3544, kUdp, "teredo"},
    {3702, kBoth, "ws-discovery"},
    {3784, kUdp, "bfd-control"},
    {3868, kTcp | kSctp, "diameter"},
    {4222, kTcp, "nats"},
    {4369, kTcp, "epmd"},
    {4433, kUdp, "quic"},
    {4500, kUdp, "ipsec-nat-t"},
    {4739, kBoth | kSctp, "ipfix"},
    {4789, kUdp, "vxlan"},
    {5004, kBoth, "rtp"},
    {5005, kBoth, "rtcp"},
    {5060, kBoth | kSctp, "sip"},
    {5061, kTcp, "sips"},
    {5201, kBoth, "iperf3"},
    {5222, kTcp, "xmpp-client"},
    {5228, kTcp, "google-push"},
    {5269, kTcp, "xmpp-server"},
    {5349, kBoth, "stuns"},
    {5351, kUdp, "nat-pmp"},
    {5353, kUdp, "mdns"},
    {5355, kBoth, "llmnr"},
    {5432, kTcp, "postgresql"},
    {5671, kTcp, "amqps"},
    {5672, kTcp, "amqp"},
    {5683, kUdp, "coap"},
    {5684, kUdp, "coaps"},
    {5900, kTcp, "rfb"},
    {5938, kBoth, "teamviewer"},
    {5985, kTcp, "wsman"},
    {5986, kTcp, "wsmans"},
    {6000, kTcp, "x11"},
    {6081, kUdp, "geneve"},
    {6343, kUdp, "sflow"},
    {6379, kTcp, "redis"},
    {6443, kTcp, "kubernetes"},
    {6514, kBoth, "syslog-tls"},
    {6635, kUdp, "mpls-udp"},
    {6667, kTcp, "ircu"},
    {6881, kBoth, "bittorrent"},
    {7946, kBoth, "docker-swarm"},
    {8000, kTcp, "http-alt"},
    {8008, kTcp, "http-alt"},
    {8080, kTcp, "http-alt"},
    {8086, kTcp, "influxdb"},
    {8123, kTcp, "clickhouse"},
    {8443, kTcp, "https-alt"},
    {8472, kUdp, "otv"},
    {8805, kUdp, "pfcp"},
    {8883, kTcp, "secure-mqtt"},
    {9000, kTcp, "cslistener"},
    {9042, kTcp, "cassandra"},
    {9090, kTcp, "prometheus"},
    {9092, kTcp, "kafka"},
    {9100, kTcp, "hp-pdl-datastr"},
    {9200, kTcp, "elasticsearch"},
    {9418, kTcp, "git"},
    {9995, kUdp, "netflow"},
    {10250, kTcp, "kubelet"},
    {11211, kBoth, "memcache"},
    {20000, kBoth, "dnp"},
    {27017, kTcp, "mongodb"},
    {36412, kSctp, "s1-control"},
    {38412, kSctp, "ng-control"},
    {44818, kBoth, "ethernet-ip"},
    {47808, kUdp, "bacnet"},
    {51820, kUdp, "wireguard"},
};
static_assert(std::ranges::is_sorted(kServices, {}, &Service::port));

std::uint8_t transport_of(std::uint8_t protocol) noexcept {
  constexpr std::uint8_t kTcpNumber = 6, kUdpNumber = 17, kSctpNumber = 132;
  switch (protocol) {
    case kTcpNumber:
      return kTcp;
    case kUdpNumber:
      return kUdp;
    case kSctpNumber:
      return kSctp;
    default:
      return 0;
  }
}

}  // namespace

std::string_view service_name(std::uint8_t protocol, std::uint16_t port) noexcept {
  const std::uint8_t transport = transport_of(protocol);
  const auto first = std::ranges::lower_bound(kServices, port, {}, &Service::port);
  for (auto each = first; each != std::end(kServices) && each->port == port; ++each)
    if ((each->transports & transport) != 0) return each->name;
  return {};
}

}  // namespace parshall
