// SPDX-License-Identifier: Apache-2.0
const query = () => rowsQuery();
function showCharts() {
  const line = (place, color) => [[moment => moment[place], color]];
  chart(at("pps-chart"), line(1, "--blue"), value => scaled(value, "pps"));
  chart(at("bps-chart"), line(2, "--teal"), value => scaled(value, "bit/s"));
  chart(at("lost-chart"), line(3, "--red"), value => scaled(value, "pps"));
}

function bar(name, share, text, kind = "") {
  const line = element("div", "", "part"), filled = element("i");
  filled.style.width = `${100 * share}%`;
  line.append(filled, element("span", name), element("span", text, kind));
  return line;
}
function showAccount() {
  const account = state.summary.accounting, parts = {};
  for (const name of ["nic_missed", "nic_error", "no_mbuf", "ring_full", "filtered", "later_msdus", "not_ip"]) parts[name] = account[name];
  parts.malformed = Object.values(account.malformed || {}).reduce((sum, count) => sum + count, 0);
  parts.counted = account.counted;
  for (const name of ["live_flow_packets", "ended_record_packets", "kept_out_packets"]) parts["\u2514 " + name] = account[name];
  const lost = ["nic_missed", "nic_error", "no_mbuf", "ring_full"];
  at("account").replaceChildren(...[["offered", account.offered], ...Object.entries(parts)].filter(([, count]) => count !== null && count !== undefined).map(([name, count]) => bar(name.replaceAll("_", " "), count / Math.max(account.offered, 1), whole(count), lost.includes(name) && count ? "bad" : "")));
  at("balance").textContent = account.balanced ? "balanced" : "DOES NOT BALANCE";
  at("balance").className = account.balanced ? "good" : "bad";
}
// Bit rates of protocols, services and directions.
function showShares() {
  for (const of of ["protocols", "services", "directions"]) {
    const share = state.shares[of], list = at(of);
    if (!share) {
      list.replaceChildren(element("div", of === "directions" && state.shares.protocols ? "needs --local, such as --local 10.0.0.0/8" : "not with --key, --biflow or --packets-only", "faint"));
      continue;
    }
    const rest = share.bps - share.largest.reduce((sum, [, bps]) => sum + bps, 0);
    const parts = rest > share.bps / 1000 ? [...share.largest, ["others, ended flows", rest]] : share.largest;
    list.replaceChildren(...(parts.length ? parts.map(([name, bps]) => bar(name, bps / share.bps, `${scaled(bps, "bit/s")}, ${percent(bps / share.bps)}`)) : [element("div", "no packets", "faint")]));
  }
}
function showWorkers() {
  const all = (name, threads) => threads.map((thread, i) => {
    const line = element("div", "", "worker"), meter = element("meter");
    Object.assign(meter, {max: 1, high: 0.9, value: thread.busy_share, ariaLabel: `${name} ${i}, busy`});
    line.append(element("span", `${name} ${i}`), meter, element("span", percent(thread.busy_share)));
    return line;
  });
  at("workers").replaceChildren(...all("receiver", state.summary.receivers ?? []), ...all("worker", state.summary.workers));
}
function showStates() {
  const all = state.summary.adaptation, lately = state.lately, states = Object.entries(state.states);
  at("states-card").hidden = !all && !states.length;
  at("recall-card").hidden = !state.recall.length;
  if (all) {
    const share = lately && lately.seconds > 0 ? `tasks leave out flows ${percent(lately.seconds_reduced / lately.seconds)} of the time; ` : "";
    at("adaptation").textContent = `${all.mode}: ${share}in total ${scaled(all.seconds_reduced)} of ${scaled(all.seconds)} s; no time for all packets in ${whole(all.windows_infeasible)} of ${whole(all.windows)} windows`;
    at("adaptation").className = lately?.windows_infeasible ? "bad" : "";
  }
  const reduced = of => of ? percent(1 - of.packets_not_reduced / of.packets) : "-";
  fill(at("states"), ["state", "packets", "reduced", "packets lately", "reduced lately"],
       states.map(([name, of]) => [name, whole(of.packets), reduced(of), whole(lately?.states[name]?.packets), reduced(lately?.states[name])]));
  const digits = value => value === null ? "-" : value.toFixed(3);
  fill(at("recall"), ["task", "recall", "at least (95 %)", "wanted", "flows seen", "missed", "packets missed", "what it missed last"],
       state.recall.map(of => [of.task, digits(of.recall), digits(of.at_least), digits(of.threshold), whole(of.flows_seen), whole(of.flows_missed), whole(of.packets_missed), of.latest_event]));
}
// One bar for each stretch of windows since the alarm began.
function picture(values, title) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg"), path = document.createElementNS(svg.namespaceURI, "path");
  const most = Math.max(...values, 1e-9);
  path.setAttribute("d", values.map((value, i) => `M${i} 1h0.9v${-value / most}h-0.9z`).join(""));
  svg.setAttribute("viewBox", `0 0 ${Math.max(values.length, 16)} 1`);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", title);
  svg.append(path);
  return svg;
}
function alarmCard({alarm, history}) {
  const over = alarm.alarm === "ended", value = alarm.value, lasts = time(1e9 * alarm.duration_s);
  const card = element("li", "", `alarm ${alarm.severity}${over ? " over" : ""}`), facts = [`${over ? "lasted" : "open for"} ${lasts} since ${when(alarm)}`];
  card.append(element("b", `${alarm.task}  ${alarm.key_text}`), element("span", `${alarm.severity}${over ? ", ended" : ""}${alarm.muted ? `, muted: ${alarm.muted}` : ""}`, alarm.severity === "critical" && !over ? "bad" : "faint"));
  if (value) {
    facts.unshift(`${value.name} ${scaled(value.last)}${alarm.exact ? "" : " (not exact)"}, peak ${scaled(value.peak)}`);
    card.append(picture(history, `${value.name} over time, at most ${scaled(value.peak)}`));
  }
  facts.forEach(fact => card.append(element("div", fact)));
  return card;
}
function showAlarms() {
  const told = state.alarms, rank = {info: 0, warning: 1, critical: 2};
  at("alarms-card").hidden = !told;
  if (!told) return;
  const of = openedText();
  at("alarms-told").textContent = `${of ? `${whole(told.latest.length)} of ${of}; in total ` : ""}${whole(told.open)} open, ${whole(told.begun)} since the start${told.findings_left_out ? `; ${whole(told.findings_left_out)} findings had no room` : ""}`;
  const order = ({alarm}) => [alarm.alarm === "ended" ? 0 : 1, rank[alarm.severity], alarm.begin_ns];
  const all = told.latest.map(of => [order(of), of]).sort(([a], [b]) => b[0] - a[0] || b[1] - a[1] || b[2] - a[2]);
  at("alarms").replaceChildren(...(all.length ? all.map(([, of]) => alarmCard(of)) : [element("li", "none", "good")]));
}
function showRest() {
  const none = element("li", "none: tasks such as entropy report them", "faint");
  at("events").replaceChildren(...(state.events.length ? state.events.map(({text, event}) => element("li", `${when(event.window)}  ${text}`)).reverse() : [none]));
  const units = state.summary.outputs || [];
  const sum = of => of.records ? `${scaled(of.records)}${of.findings ? " + " + scaled(of.findings) : ""}` : scaled(of.findings);
  fill(at("outputs"), ["output", "offered", "written", "unconfirmed", "waiting", "dropped"],
       units.length ? units.map(output => [output.name, ...["offered", "written", "unconfirmed", "waiting", "dropped"].map(name => sum(output[name]))]) : [["only the report at the end"]]);
}

function show() {
  const [, pps, bps, lost] = state.now, summary = state.summary;
  at("source").textContent = summary.source;
  document.title = `${scaled(pps, "pps")} - ${summary.source} - Parshall`;
  at("told").textContent = `${summary.elapsed_s.toFixed(0)} s, ${whole(summary.live_flows)} of ${whole(summary.capacity_flows)} flows, memory limit ${scaled(summary.memory_bytes, "B")}, version ${state.version}`;
  at("pps").textContent = scaled(pps, "pps");
  at("bps").textContent = scaled(bps, "bit/s");
  at("lost").textContent = `${scaled(lost, "pps")}, in total ${percent(summary.loss_ratio)}`;
  at("lost").className = lost > 0 ? "now bad" : "now";
  showCharts();
  showAccount();
  showShares();
  showWorkers();
  showRows();
  showAlarms();
  showStates();
  showRest();
}

stay();
