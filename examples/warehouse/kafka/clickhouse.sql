-- SPDX-License-Identifier: Apache-2.0
-- Flow records of a fleet in ClickHouse, from Kafka. end_to_end.py runs all of it but the two tables of ENGINE = Kafka and what reads from them, which take a server.
-- Never compare an IPv6 column with '0.0.0.0', which means ::ffff:0.0.0.0.

CREATE TABLE IF NOT EXISTS flows (
  received DateTime64(9, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
  first_seen DateTime64(9, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
  last_seen DateTime64(9, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
  src_addr IPv6 CODEC(ZSTD(1)), dst_addr IPv6 CODEC(ZSTD(1)), src_port UInt16, dst_port UInt16, proto UInt8, tcp_flags UInt16, end_reason UInt8,
  packets UInt64 CODEC(T64, LZ4), bytes UInt64 CODEC(T64, LZ4), flow_id UInt64, record UInt32, exact Bool,
  part Int32, off Int64, place UInt32
) ENGINE = ReplacingMergeTree PARTITION BY toYYYYMMDD(last_seen)
  ORDER BY (toStartOfFiveMinutes(last_seen), dst_addr, src_addr, part, off, place) TTL toDateTime(last_seen) + INTERVAL 30 DAY;

-- By minute and service, for a year.
CREATE TABLE IF NOT EXISTS flows_by_minute (minute DateTime('UTC'), proto UInt8, dst_port UInt16, packets UInt64, bytes UInt64, records UInt64)
ENGINE = SummingMergeTree ORDER BY (minute, proto, dst_port) TTL minute + INTERVAL 1 YEAR;

CREATE MATERIALIZED VIEW IF NOT EXISTS to_minutes TO flows_by_minute AS
SELECT toStartOfMinute(last_seen) AS minute, proto, dst_port, sum(packets) AS packets, sum(bytes) AS bytes, count() AS records FROM flows GROUP BY ALL;

-- Of each run, as TOPIC-accounting has it.
CREATE TABLE IF NOT EXISTS accounting (probe String, summary String) ENGINE = MergeTree ORDER BY probe;

-- Whether all is here: `missing` is 0, and `not_sent` is what the probes know that they lost on the way.
CREATE VIEW IF NOT EXISTS adds_up AS
WITH (SELECT sum(JSONExtractUInt(summary, 'accounting', 'live_flow_packets') + JSONExtractUInt(summary, 'accounting', 'ended_record_packets')) FROM accounting) AS counted,
     (SELECT sum(arraySum(arrayMap(o -> if(startsWith(JSONExtractString(o, 'name'), 'kafka:'), JSONExtractUInt(o, 'dropped', 'packets'), 0),
                                   JSONExtractArrayRaw(summary, 'outputs')))) FROM accounting) AS lost,
     (SELECT sum(packets) FROM flows FINAL) AS here
SELECT counted, here, lost AS not_sent, toInt64(counted) - toInt64(here) - toInt64(lost) AS missing;

-- With a server:
-- CREATE TABLE flows_queue (time_received_ns UInt64, time_flow_start_ns UInt64, time_flow_end_ns UInt64, src_addr IPv6, dst_addr IPv6, src_port UInt32,
--   dst_port UInt32, proto UInt32, tcp_flags UInt32, end_reason UInt32, packets UInt64, bytes UInt64, flow_id UInt64, record UInt32, exact Bool)
-- ENGINE = Kafka SETTINGS kafka_broker_list = 'broker:9092', kafka_topic_list = 'flows', kafka_group_name = 'clickhouse', kafka_format = 'Protobuf',
--   kafka_schema = 'flow.proto:FlowMessage', kafka_num_consumers = 2;
-- CREATE MATERIALIZED VIEW from_queue TO flows AS
-- SELECT fromUnixTimestamp64Nano(toInt64(time_received_ns), 'UTC') AS received, fromUnixTimestamp64Nano(toInt64(time_flow_start_ns), 'UTC') AS first_seen,
--   fromUnixTimestamp64Nano(toInt64(time_flow_end_ns), 'UTC') AS last_seen, src_addr, dst_addr, src_port, dst_port, proto, tcp_flags, end_reason, packets, bytes,
--   flow_id, record, exact, toInt32(_partition) AS part, toInt64(_offset) AS off, rowNumberInBlock() AS place FROM flows_queue;
-- CREATE TABLE accounting_queue (summary String) ENGINE = Kafka SETTINGS kafka_broker_list = 'broker:9092', kafka_topic_list = 'flows-accounting',
--   kafka_group_name = 'clickhouse', kafka_format = 'RawBLOB';
-- CREATE MATERIALIZED VIEW from_accounting TO accounting AS SELECT _key AS probe, summary FROM accounting_queue;
