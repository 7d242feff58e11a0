// SPDX-License-Identifier: Apache-2.0
// Places in a moment, of the ways there and back: packets sent and lost per second, mean and 99th percentile of the delay.
const kWays = ["there", "back"], kSent = 1, kLost = 2, kDelay = 4, kPerWay = 4;
const query = () => "";

function showCharts() {
  const lines = place => ["--blue", "--teal"].map((color, way) => [moment => moment[place + way * kPerWay], color]);
  chart(at("sent-chart"), lines(kSent), value => scaled(value, "pps"));
  chart(at("lost-chart"), lines(kLost), value => scaled(value, "pps"));
  chart(at("delay-chart"), lines(kDelay), time);
}
const share = of => percent(of.packets_lost / Math.max(of.packets_delivered + of.packets_lost, 1));
function counts(of) {
  return [whole(of.packets_sent), whole(of.packets_lost), share(of), whole(of.packets_duplicated), whole(of.packets_reordered),
    ...["min", "mean", "p50", "p99", "max", "variation_mean"].map(name => time(of[`delay_${name}_ns`]))];
}
const kCounts = ["sent", "lost", "", "duplicated", "reordered", "least delay", "mean", "median", "p99", "most", "jitter"];

function end(address, port) { return port === 0 ? address : address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`; }
function flowName(flow) {
  const protocol = {1: "ICMP", 6: "TCP", 17: "UDP", 58: "ICMPv6"}[flow.protocol] ?? `protocol ${flow.protocol}`;
  const ends = prefix => `${end(flow[`${prefix}src_ip`], flow[`${prefix}src_port`])} \u2192 ${end(flow[`${prefix}dst_ip`], flow[`${prefix}dst_port`])}`;
  const atUp = ends(""), atDown = ends("down_");
  return `${atUp} ${protocol}${flow.packets_received ? "" : ", never seen at the other point"}${atDown === atUp ? "" : ` as ${atDown}`}`;
}
function show() {
  const now = place => kWays.map((_, way) => state.now ? state.now[place + way * kPerWay] : null);
  const both = (place, text) => now(place).map(value => value === null ? "-" : text(value)).join(" / ");
  const lostNow = now(kLost).some(value => value > 0);
  at("source").textContent = `${state.up.name} to ${state.down.name}`;
  document.title = `${both(kLost, value => scaled(value, "pps"))} lost - Parshall compare`;
  at("told").textContent = `${whole(state.up.packets)} and ${whole(state.down.packets)} packets`;
  at("warnings-card").hidden = !state.warnings.length;
  at("warnings").replaceChildren(...state.warnings.map(text => element("li", text, "bad")));
  at("sent").textContent = both(kSent, value => scaled(value, "pps"));
  at("lost").textContent = both(kLost, value => scaled(value, "pps"));
  at("lost").className = lostNow ? "now bad" : "now";
  at("delay").textContent = both(kDelay, time);
  showCharts();
  fill(at("ways"), ["way", ...kCounts], kWays.map(way => [way, ...counts(state[way])]));
  at("shown").textContent = `${whole(state.flows.length)} of ${whole(state.all_flows)}${state.ended_flows ? `; ${whole(state.ended_flows)} more are part of the totals alone` : ""}`;
  fill(at("flows"), ["flow", "way", ...kCounts], state.flows.map(flow => [flowName(flow), flow.way, ...counts(flow)]), 2);
}

stay();
