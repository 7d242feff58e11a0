# SPDX-License-Identifier: Apache-2.0
"""Seeds of what reads texts: of each kind of line or file a few that are right, and of some that are nearly."""

import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]

MODEL_HEAD = """version = 1
model = "{}"
packets = 2
longest = 1500
reject = {}
classes = ["dns", "web"]
[training]
date = "2026-11-22"
command = "parshall train"
captures = 3
flows = [10, 20]
"""
BAYES = (
    MODEL_HEAD.format("naive-bayes", 0.5)
    + """[accuracy]
folds = 5
accuracy = 0.75
precision = [0.5, "none"]
recall = [1, 0]
[naive-bayes]
[[naive-bayes.class]]
name = "dns"
mean = [60, "none"]
variance = [4, "none"]
[[naive-bayes.class]]
name = "web"
mean = [52, 1400]
variance = [4, 900]
"""
)
TREE = (
    MODEL_HEAD.format("c45", 0)
    + """[c45]
nodes = [
  {packet = 1, size = 60, up_to = 1, above = 2},
  {flows = {"dns" = 9.5}},
  {packet = 2, size = 90, up_to = 3, above = 4},
  {flows = {"web" = 1, "dns" = 2}},
  {flows = {"web" = 17}},
]
"""
)
PORTS = (
    TREE
    + """[short-flows]
tested = 5
classified = 4
correct = 3
ports = [
  {protocol = 6, port = 80, class = "web", share = 1, of = 2},
  {protocol = 17, port = 53, class = "names", share = 0.9, of = 40},
]
"""
)

LABELS = [
    "class,protocol,src_ip,src_port,dst_ip,dst_port\nweb,tcp,10.0.0.1,1000,10.0.0.2,443\ndns,17,2001:db8::1,5,2001:db8::2,53\n",
    'capture,class,protocol,src_ip,src_port,dst_ip,dst_port,more\r\na.pcap,"web, '
    '""x""",6,10.0.0.1,1,10.0.0.2,2,"a\nb"\r\n',
    "\ufeffclass,protocol,src_ip,src_port,dst_ip,dst_port\nweb,tcp,10.0.0.1,1,10.0.0.2,2\ndns,tcp,10.0.0.2,2,10.0.0.1,1\n",
    "class,protocol,src_ip,src_port,dst_ip\n",
    "#flow_id,protocol,src_ip,src_port,dst_ip,dst_port,ndpi_proto\n0,6,10.0.0.1,1,10.0.0.2,443,TLS.Google\n",
    "#flow_id|protocol|src_ip|src_port|dst_ip|dst_port|ndpi_proto\n0|17|::1|1|::2|53|DNS.Google\n1|6|::1|1|::2|3|Unknown\n2\n",
    "#separator \\x09\n#unset_field\t-\n#fields\tuid\tproto\tid.orig_h\tid.orig_p\tid.resp_h\tid.resp_p\tservice\n"
    "C1\ttcp\t10.0.0.1\t1\t10.0.0.2\t445\tsmb,gssapi,-ntlm\nC2\tudp\t::1\t1\t::2\t53\t-\nC3\n#close\tnow\n",
    '{"uid":"C1","proto":"tcp","id.orig_h":"10.0.0.1","id.orig_p":1,"id.resp_h":"10.0.0.2","id.resp_p":80,"service":"http"}\n'
    '{"uid":',
]
SAMPLES = [
    "class,capture,size_1,size_2\nweb,a,60,1500\ndns,b,70,\n",
    'class,capture,size_1,size_2,size_3,fold\n"a,b","c ""d""",1,2,65535,0\nx,y,9,,,4294967295\n',
    "class,capture,size_1\nweb,a,0\n",
]

STATES = [path.read_text() for path in sorted((ROOT / "examples/states").glob("*.toml"))] + [
    'default = "a"\n[[state]]\nname = "a"\n[[state]]\nname = "b"\ntasks = ["heavy-hitters", "count"]\nlighter = "a"\n'
    '[[rule]]\nstate = "b"\nfrom = ["a"]\nprefix = "10.0.0.0/8"\nport = 443\nshare = 0.5\n'
    '[[rule]]\nstate = "a"\nfilter = "udp port 53 or net 2001:db8::/32"\nreported_by = "heavy-hitters"\n',
    'default = "b"\n[[state]]\nname = "a"\nlighter = "b"\n[[state]]\nname = "b"\nlighter = "a"\n',
]

TASKS = [
    "count\nheavy-hitters:key=src/24,by=packets,threshold=5%,top=10\nsuperspreaders:method=hyperloglog,threshold=3\n",
    "hierarchical-heavy-hitters:key=dst,by=new_flows\nvictims:of=src-and-port,method=bloom\nscans:threshold=2\n"
    "floods:threshold=9,severity=info\nbeacons:contacts=4,least=1s,jitter=0.2\n"
    "new-hosts:learn=0,networks=10.0.0.0/8+2001:db8::/32\noutages:steady=2,silent=1,quiet=22:00-06:00,mute=::1\n"
    "change:method=previous,threshold=1k\n",
    "flow-sizes\nentropy\nquantiles\nbursty:within=1ms,share=0.1,packets=2\n",
    "retransmissions\nlost-segments\nzero-windows\nlatency-change:beta=1\n",
    "microbursts\nlossy=tcp_retransmissions > 15\nmany:window=10ms,name=x,recall=0.5,priority=3:rate_pps > 200 and "
    "packets > 1\n",
    "a=min(packets, 3) ^ 2 >= 4 or not (rtt_mean_ms < 1)\nb:most=2:size_mean_bytes / 0 > 1\ncount:window=2Mp\n",
]

TRAFFIC = [
    "",
    "flows=65536,size=64,dist=zipf:1.1,protocol=mix,ipv6=0.1,seed=1",
    "flows=10,packets=40,protocol=connections",
    "flows=8,packets=100,protocol=sessions,resend=0.25,size=64-1518",
    "size=imix,vlan=12.34,addresses=benchmark,ipv6=1",
    "dist=ladder,size=64:7+570:4+1518:1,src-mac=02:00:00:00:00:0a,dst-mac=ff:ff:ff:ff:ff:ff",
    "dist=trains:16,protocol=tcp",
    "flood=0.5,flows=100,packets=1000",
    "pace=1000000,swing=10,queue=128",
    "dist=zipf:1.1-0.6,flows=64,rate=1e6",
    "protocol=udp,size=9018,flows=3",
]

REQUESTS = [
    "GET / HTTP/1.1\r\nHost: localhost:8080\r\n\r\n",
    "GET /api/state?x=1 HTTP/1.0\r\nhost: [::1]:80\r\nAuthorization: Bearer 0123456789abcdef\r\n\r\n",
    "POST /api/events HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc",
    "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    "GET /a b HTTP/1.1\r\n\r\n",
    "GET / HTTP/2\r\n\r\n",
    "GET / HTTP/1.1\r\n folded: x\r\n\r\n",
    "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
]
ADDRESSES = [
    "8080",
    "127.0.0.1:8080",
    "[::1]:443",
    "localhost:0",
    "0.0.0.0:1",
    "[2001:db8::1]:65535",
    "host:80",
    "::1:80",
    "1.2.3.4:65536",
]

FILTERS = [
    "tcp port 80",
    "udp and not port 53",
    "host 10.0.0.1 or net 192.0.2.0/24",
    "ip6 and tcp",
    "vlan 5 and ip",
    "tcp[13] & 2 != 0",
    "len > 100",
    "src net 2001:db8::/32",
    "icmp or arp",
    "ether host 02:00:00:00:00:01",
    "portrange 1-1024",
    "ip proto 6 and dst port 443",
    "greater 60",
    "mpls and ip",
    "pppoes and udp",
    "ip multicast",
    "src host nobody.example",
    "tcp and (",
    "ip protochain 6",
    "wlan type mgt",
]

# By the readers' order in fuzz_words.cpp.
WORDS = [
    ["10", "64k", "1.5M", "64Ki", "1e3", "18446744073709551615", "0x10"],
    ["10", "1.5s", "250ms", "2m", "1h", "10us", "0.5ns"],
    ["1s", "10ms", "2Mp", "1000p", "9ms"],
    ["asap", "14.88Mpps", "500Mbps", "40%", "2x", "1e3kpps"],
    ["64", "imix", "64-1518", "64:7+570:4+1518:1"],
    ["eth0", "0000:00:1f.0", "00:1f.0", "vdev:net_null0", "vdev:net_pcap0,rx_pcap=a.pcap,infinite_rx=1"],
    ["EF", "af21", "cs0", "63", "64", "VOICE-ADMIT"],
    ["10.0.0.0/8", "2001:db8::/32", "1.2.3.4", "0.0.0.0/0"],
    ["5tuple", "src/24", "src-dst/24/56", "dst-port", "protocol"],
    [
        "gap_mean,iat_p99.9_ns,size_sd",
        "all",
        "identity,totals",
        "first_sizes_8",
        "rtt_min,flow_id",
        "gap_p0.1,rate",
        "community_id",
    ],
    ["name=mine,loss=0.1%,exceed=50%,trial=1s,sum=21s,width=0.5%,initial=1s", "name=a", "name=a,loss=0,trial=10ms"],
    ["192.0.2.1:7777", "[2001:db8::1]:7777"],
    ["web=AF21", "unknown=3", "a=b=EF"],
    [
        "udp://host:4739,domain=5,mtu=1400,rate=1G,templates=30s,times=ns",
        "tcp://[::1]:1",
        "tls://h,ca=a,cert=b,key=c,name=d,probe=p",
        "a,b.ipfix",
    ],
    ["folder,every=60s,size=10M,partition=day,level=3,probe=x", "f,g"],
    ["a:1,b:2/topic,format=json,compression=lz4,batch=5,wait=1s,config=f,probe=p"],
    ["csv:flows.csv", "ipfix:udp://a:1", "nothing:x"],
    ["\x0140%\n1%:10s\n10Gbps\n5M\n10s\n1s\n\n\nflows=10", "\x05\n\n\n\n\n\n02:00:00:00:00:01\nff:ff:ff:ff:ff:ff\n"],
    ["rate 5Mpps\nstop\n", "a\n\nb"],
    ["rate=10mbit,flows=20", "limit=5"],
    ["tcpdump -i {interface} 'a b' \"c 'd'\"", "123 packets captured\nx\n456 packets captured\n"],
    [
        "udp://logs:514,facility=local3",
        "tls://[::1],ca=a,name=b",
        "http://u:p@h:9093/api/v2/alerts?x=y,format=alertmanager,token=t",
        "https://[2001:db8::1]/,format=slack,probe=p",
    ],
    ["severity=critical,hold-off=5m,min-packets=0,min-rate=1M", "mute=10.0.0.5+2001:db8::/32,quiet=22:00-06:00"],
]

CONFIGURATIONS = [
    'interface = "eth0"\nflows = "1Mi"\nidle = "15s"\nstats = ["gap_p99", "iat_p99"]\ninner = true\n',
    'read = "a.pcap"\ntasks = ["count", "heavy-hitters"]\ntask = ["x=packets > 3"]\naccuracy = 0.9\nwindow = "100ms"\n',
    'generate = "flows=10"\nworkers = 2\ncores = [0, 1]\nscheduler = "fifo"\n[[export]]\nkind = "csv"\ntarget = '
    '"flows.csv"\n[[export]]\nkind = "ipfix"\ntarget = "udp://h:1"\ndomain = 5\nx = true\n',
    'generate = "flows=10"\nbiflow = true\ncolumns = ["all"]\nkey = "src-dst"\nidentity = '
    '"fingerprint"\nquantile-error = 0.01\nseed = 7\nexplain = false\n',
    "[[export]]\nkind = 5\n",
    'overload = "off"\nno-adapt = true\n',
    "nothing = 1\n",
    'filter = ["tcp", "port", "80"]\nbatch = 5000\n',
]
SETTING_WORDS = ["1", "10", "1Mi", "5s", "a", "0.5", "csv:x", "exact", "5tuple", "pipeline", "p2", "tasks"]
SETTINGS = 60  # about as many as there are


def seeds():
    """{target: inputs}"""
    made = {
        "model": [bytes([20]) + bytes(range(40, 60)) + text.encode() for text in (BAYES, TREE, PORTS)],
        "labels": [text.encode() for text in LABELS],
        "samples": [text.encode() for text in SAMPLES],
        "states": [text.encode() for text in STATES],
        "tasks": [text.encode() + b"\n" + bytes(range(1, 250)) for text in TASKS],
        "traffic": [text.encode() for text in TRAFFIC],
        "web": [b"\0" + text.encode() for text in REQUESTS]
        + [b"\1" + text.encode() for text in ADDRESSES]
        + [b"\2me.example\n" + text.encode() for text in ADDRESSES + ["me.example:80", "ME.example", "other.example"]]
        + [b"\3" + text.encode() + b"\n0123456789abcdef0123\nmore" for text in ADDRESSES[:5]]
        + [b"\4secret\nsecret", b"\4secret\nsecreT", b"\4\n"],
        "words": [bytes([reader]) + word.encode() for reader, words in enumerate(WORDS) for word in words],
        "plan": [b"\xc8" + text.encode() for text in CONFIGURATIONS]
        + [bytes([setting]) + word.encode() for setting in range(SETTINGS) for word in SETTING_WORDS],
        "live": [
            b"\0\x4f\x17tgisl/tcp 10.0\x0ar><vw?h \xffa name",
            b"\x0f\x78\x27fucxame p/udp\x1b\xff\xc3\xa9\x1b[2J",
            b"\4\x09\4wwhq\xff",
            b"\x02\xff\4f\xff12345678 packets",
        ],
        "echo": [b"\0\4hello\3\4hello", b"\0\4hello\0\2hel\1xo", b"\1\7\5abcdef\2xyz"],
    }
    return {target: set(inputs) for target, inputs in made.items()}
