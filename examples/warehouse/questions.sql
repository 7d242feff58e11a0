-- SPDX-License-Identifier: Apache-2.0
-- What operators ask of flow records, of the files of one or more probes:
--   parshall watch -i eth0 --idle 15s --active 60s --columns +all --export parquet:/var/flows
--   python3 examples/warehouse/ask.py /var/flows
-- Written for DuckDB 1.1 and newer. `flows` and `accounting` are views of all files that are whole; a file is in the folder of the hour of its first record,
-- so a question about a time asks last_seen, and date and hour only to read fewer files.

-- 1 Who sends most?
SELECT src_ip, sum(wire_bytes) AS bytes, sum(packets) AS packets, count(DISTINCT flow_id) AS flows
FROM flows GROUP BY ALL ORDER BY bytes DESC LIMIT 10;

-- 2 Which services take most, by the lower port of a flow?
SELECT protocol, least(src_port, dst_port) AS port, sum(wire_bytes) AS bytes, count(DISTINCT flow_id) AS flows
FROM flows GROUP BY ALL ORDER BY bytes DESC LIMIT 10;

-- 3 Who scans: a source with many destinations, most of them for a packet or two?
SELECT src_ip, count(DISTINCT dst_ip) AS hosts, count(DISTINCT dst_port) AS ports, sum(packets) AS packets
FROM flows GROUP BY ALL HAVING greatest(hosts, ports) >= 100 AND packets < 3 * greatest(hosts, ports) ORDER BY greatest(hosts, ports) DESC LIMIT 10;

-- 4 Who gets connections that never come to be: SYN (2) and nothing else?
SELECT dst_ip, dst_port, count(*) AS attempts, count(DISTINCT src_ip) AS sources
FROM flows WHERE protocol = 6 AND tcp_flags = 2 GROUP BY ALL ORDER BY attempts DESC LIMIT 10;

-- 5 How much was there, minute by minute?
SELECT date_trunc('minute', last_seen::TIMESTAMP) AS minute, sum(wire_bytes) * 8 / 60e6 AS mbit_per_s, sum(packets) / 60 AS packets_per_s,
       count(DISTINCT flow_id) / 60 AS flows_per_s
FROM flows GROUP BY ALL ORDER BY minute LIMIT 60;

-- 6 Which flows last longest, all of their records together?
SELECT flow_id, any_value(src_ip) AS src_ip, any_value(dst_ip) AS dst_ip, any_value(dst_port) AS dst_port, (epoch_ns(max(last_seen)) - epoch_ns(min(flow_first_seen))) / 1e9 AS lasted_s,
       max(packets_total) AS packets, count(*) AS records
FROM flows GROUP BY flow_id ORDER BY lasted_s DESC LIMIT 10;

-- 7 How far away are networks: the median of connections' round-trip times from here to them and back, weighted by packets, and the least (--columns +tcp)?
SELECT CASE WHEN ip_version = 4 THEN regexp_extract(src_ip, '^\d+\.\d+\.\d+') || '.0/24' ELSE rtrim(regexp_extract(src_ip, '^[0-9a-f]*:[0-9a-f]*:[0-9a-f]*'), ':') || '::/48' END
         AS network, sum(rtt_p50_ns * packets) / sum(packets) / 1e6 AS rtt_ms, min(rtt_min_ns) / 1e6 AS least_ms, sum(packets) AS packets
FROM flows WHERE rtt_p50_ns IS NOT NULL GROUP BY ALL ORDER BY rtt_ms DESC LIMIT 10;

-- 8 Why do records end? Many that are evicted: --flows is too low.
SELECT end_reason, count(*) AS records, sum(packets) AS packets FROM flows GROUP BY ALL ORDER BY records DESC;

-- 9 When does the network lose what it carries: segments retransmitted, of a hundred, hour by hour (--columns +tcp)?
SELECT date_trunc('hour', last_seen::TIMESTAMP) AS hour, 100 * sum(tcp_retransmissions) / sum(packets) AS percent, sum(tcp_retransmissions) AS sent_again, sum(packets) AS packets
FROM flows WHERE tcp_retransmissions IS NOT NULL GROUP BY ALL ORDER BY hour LIMIT 48;

-- 10 What was missed: of which minutes may records lack packets, and how many at most?
SELECT date_trunc('minute', last_seen::TIMESTAMP) AS minute, count(*) AS records, count(*) FILTER (NOT exact) AS not_exact,
       max(missed_packets_at_most) AS missed_at_most
FROM flows GROUP BY ALL HAVING not_exact > 0 ORDER BY minute LIMIT 60;

-- 11 Is all here that was seen? `missing` is 0, and `not_sent` is what the probe knows it lost on the way.
SELECT a.probe, a.run, a.offered, a.counted_in_flows, coalesce(f.packets, 0) AS here, a.packets_not_sent AS not_sent,
       a.counted_in_flows - coalesce(f.packets, 0) - a.packets_not_sent AS missing
FROM accounting a LEFT JOIN (SELECT run, sum(packets + coalesce(reverse_packets, 0)) AS packets FROM flows GROUP BY run) f USING (run) ORDER BY a.last_seen;
