-- SPDX-License-Identifier: Apache-2.0
-- Flow records of a fleet in ClickHouse, from Kafka. end_to_end.py runs all of it but the two tables of ENGINE = Kafka and what reads from them, which take a server.
-- Never compare an IPv6 column with '0.0.0.0', which means ::ffff:0.0.0.0.

-- A record is what has its run and sequence: one that comes twice, as Kafka may have it, replaces itself. Ask with FINAL where that counts.
CREATE TABLE IF NOT EXISTS flows (
  probe LowCardinality(String), run LowCardinality(String), sequence UInt32,
  received DateTime64(9, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
  first_seen DateTime64(9, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
  last_seen DateTime64(9, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
  src_addr IPv6 CODEC(ZSTD(1)), dst_addr IPv6 CODEC(ZSTD(1)), src_port UInt16, dst_port UInt16, proto UInt8, tcp_flags UInt16, end_reason UInt8,
  packets UInt64 CODEC(T64, LZ4), bytes UInt64 CODEC(T64, LZ4), reverse_packets UInt64 CODEC(T64, LZ4), reverse_bytes UInt64 CODEC(T64, LZ4),
  flow_id UInt64, record UInt32, exact Bool
) ENGINE = ReplacingMergeTree PARTITION BY toYYYYMMDD(last_seen)
  ORDER BY (toStartOfFiveMinutes(last_seen), dst_addr, src_addr, run, sequence) TTL toDateTime(last_seen) + INTERVAL 30 DAY;

-- By minute and service, for a year. It adds up what is inserted: what comes twice is in it twice.
CREATE TABLE IF NOT EXISTS flows_by_minute (minute DateTime('UTC'), proto UInt8, dst_port UInt16, packets UInt64, bytes UInt64, records UInt64)
ENGINE = SummingMergeTree ORDER BY (minute, proto, dst_port) TTL minute + INTERVAL 1 YEAR;

CREATE MATERIALIZED VIEW IF NOT EXISTS to_minutes TO flows_by_minute AS
SELECT toStartOfMinute(last_seen) AS minute, proto, dst_port, sum(packets + reverse_packets) AS packets, sum(bytes + reverse_bytes) AS bytes, count() AS records
FROM flows GROUP BY ALL;

-- Of each run, as TOPIC-accounting has it; as old as its last packet.
CREATE TABLE IF NOT EXISTS accounting (
  probe String, run String, summary String, last_seen DateTime64(9, 'UTC') DEFAULT fromUnixTimestamp64Nano(JSONExtractInt(summary, 'last_seen_ns'), 'UTC')
) ENGINE = ReplacingMergeTree ORDER BY (probe, run) TTL toDateTime(last_seen) + INTERVAL 30 DAY;

-- Whether all is here, of each run that has ended and is younger than 30 days: `missing` is 0, and `not_sent` is what the probe knows that it lost on the way. Below 0: it took
-- as lost what had arrived, since a broker went before it told.
CREATE VIEW IF NOT EXISTS adds_up AS
SELECT a.probe AS probe, a.run AS run, a.counted AS counted, a.offered AS offered, f.here AS here, a.not_sent AS not_sent,
       toInt64(a.offered) - toInt64(f.here) - toInt64(a.not_sent) AS missing
FROM (SELECT probe, run,
             JSONExtractUInt(summary, 'accounting', 'live_flow_packets') + JSONExtractUInt(summary, 'accounting', 'ended_record_packets') AS counted,
             arrayFirst(o -> JSONExtractString(o, 'name') = JSONExtractString(summary, 'output'), JSONExtractArrayRaw(summary, 'outputs')) AS own,
             JSONExtractUInt(own, 'offered', 'packets') AS offered, JSONExtractUInt(own, 'dropped', 'packets') AS not_sent
      FROM accounting FINAL) AS a
LEFT JOIN (SELECT run, sum(packets + reverse_packets) AS here FROM flows FINAL GROUP BY run) AS f ON a.run = f.run;

-- With a server:
-- CREATE TABLE flows_queue (probe String, run String, sequence_num UInt32, time_received_ns UInt64, time_flow_start_ns UInt64, time_flow_end_ns UInt64, src_addr IPv6,
--   dst_addr IPv6, src_port UInt32, dst_port UInt32, proto UInt32, tcp_flags UInt32, end_reason UInt32, packets UInt64, bytes UInt64, reverse_packets UInt64,
--   reverse_ip_bytes UInt64, flow_id UInt64, record UInt32, exact Bool)
-- ENGINE = Kafka SETTINGS kafka_broker_list = 'broker:9092', kafka_topic_list = 'flows', kafka_group_name = 'clickhouse', kafka_format = 'Protobuf',
--   kafka_schema = 'flow.proto:FlowMessage', kafka_num_consumers = 2;
-- CREATE MATERIALIZED VIEW from_queue TO flows AS
-- SELECT probe, run, sequence_num AS sequence, fromUnixTimestamp64Nano(toInt64(time_received_ns), 'UTC') AS received,
--   fromUnixTimestamp64Nano(toInt64(time_flow_start_ns), 'UTC') AS first_seen, fromUnixTimestamp64Nano(toInt64(time_flow_end_ns), 'UTC') AS last_seen,
--   src_addr, dst_addr, src_port, dst_port, proto, tcp_flags, end_reason, packets, bytes, reverse_packets, reverse_ip_bytes AS reverse_bytes, flow_id, record, exact
-- FROM flows_queue;
-- CREATE TABLE accounting_queue (summary String) ENGINE = Kafka SETTINGS kafka_broker_list = 'broker:9092', kafka_topic_list = 'flows-accounting',
--   kafka_group_name = 'clickhouse', kafka_format = 'RawBLOB';
-- CREATE MATERIALIZED VIEW from_accounting TO accounting AS
-- SELECT JSONExtractString(summary, 'probe') AS probe, JSONExtractString(summary, 'run') AS run, summary FROM accounting_queue;
