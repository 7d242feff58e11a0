// SPDX-License-Identifier: Apache-2.0
"use strict";
const kMoments = 600;
let came = 0, token = sessionStorage.token || "", moments = [], state = null, stream = null;

function at(id) { return document.getElementById(id); }
// The token comes after "#", which no browser sends anywhere, and does not stay in the address.
function takeToken() {
  if (!location.hash.startsWith("#token=")) return false;
  const given = location.hash.slice(7);
  try { token = decodeURIComponent(given); } catch { token = given; }
  sessionStorage.token = token;
  history.replaceState(null, "", "/");
  return true;
}
takeToken();

function scaled(value, unit = "") {
  if (value === null || value === undefined) return "-";
  const steps = ["", "k", "M", "G", "T"];
  let step = 0, rest = value;
  while (Math.abs(rest) >= 1000 && step < 4) { rest /= 1000; ++step; }
  const text = step === 0 ? (Number.isInteger(rest) ? String(rest) : rest.toPrecision(3)) : rest.toPrecision(4);
  return unit || step ? `${text} ${steps[step]}${unit}` : text;
}
function time(ns) {
  if (ns === null || ns === undefined) return "-";
  for (const [unit, length] of [["s", 1e9], ["ms", 1e6], ["us", 1e3]])
    if (Math.abs(ns) >= length) return `${(ns / length).toPrecision(3)} ${unit}`;
  return `${Number.isInteger(ns) ? ns : ns.toPrecision(3)} ns`;
}
// The viewer's time, or the packet.
function when(range) {
  if (range.begin_ns === undefined) return `packet ${range.begin_packet}`;
  return new Date(range.begin_ns / 1e6).toLocaleString("sv", {timeZoneName: "short"});
}
const whole = value => value === null || value === undefined ? "-" : value.toLocaleString("en").replaceAll(",", "\u202f");
const percent = value => Number.isFinite(value) ? `${(100 * value).toPrecision(3)} %` : "-";

function element(name, text = "", kind = "") {
  const made = document.createElement(name);
  made.textContent = text;
  made.className = kind;
  return made;
}
function fill(table, names, rows, left = 1) {
  const line = (cells, name) => {
    const tr = element("tr");
    cells.forEach((cell, i) => tr.append(element(name, cell, i < left ? "left" : "")));
    if (name === "th") tr.childNodes.forEach(th => { th.scope = "col"; });
    return tr;
  };
  table.replaceChildren(line(names, "th"), ...rows.map(row => line(row, "td")));
}

// A line over the last minutes, from 0 up.
function chart(canvas, place, unit, color) {
  const scale = devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
  canvas.width = width * scale;
  canvas.height = height * scale;
  const draw = canvas.getContext("2d"), style = getComputedStyle(document.documentElement), ink = name => style.getPropertyValue(name);
  draw.scale(scale, scale);
  draw.font = "11px system-ui, sans-serif";
  const most = Math.max(...moments.map(moment => moment[place]), 1e-9), step = 10 ** Math.floor(Math.log10(most));
  const top = Math.max(1, [1, 2, 5, 10].map(times => times * step).find(value => value >= most)), bottom = height - 16;
  const last = moments.length ? moments[moments.length - 1][0] : 0, first = moments.length ? Math.min(moments[0][0], last - 60) : 0;
  const x = seconds => (seconds - first) / Math.max(last - first, 1) * width, y = value => bottom - value / top * (bottom - 14);
  draw.fillStyle = ink("--faint");
  draw.strokeStyle = ink("--line");
  for (const share of [0, 0.5, 1]) {
    draw.beginPath();
    draw.moveTo(0, Math.round(y(top * share)) + 0.5);
    draw.lineTo(width, Math.round(y(top * share)) + 0.5);
    draw.stroke();
    if (share) draw.fillText(scaled(top * share, unit), 0, y(top * share) - 3);
  }
  const ago = seconds => seconds >= 120 ? `${Math.round(seconds / 60)} min ago` : `${Math.round(seconds)} s ago`;
  draw.fillText(ago(last - first), 0, height - 3);
  draw.fillText("now", width - draw.measureText("now").width, height - 3);
  if (!moments.length) return;
  draw.beginPath();
  moments.forEach(moment => draw.lineTo(x(moment[0]), y(moment[place])));
  draw.strokeStyle = ink(color);
  draw.lineWidth = 1.5;
  draw.stroke();
  draw.lineTo(x(last), bottom);
  draw.lineTo(x(moments[0][0]), bottom);
  draw.globalAlpha = 0.12;
  draw.fillStyle = ink(color);
  draw.fill();
}
function showCharts() {
  chart(at("pps-chart"), 1, "pps", "--blue");
  chart(at("bps-chart"), 2, "bit/s", "--teal");
  chart(at("lost-chart"), 3, "pps", "--red");
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
function take(text) {
  state = JSON.parse(text);
  if (moments.length && state.now[0] < moments[moments.length - 1][0]) moments = [];  // another run
  if (!moments.length || state.now[0] > moments[moments.length - 1][0]) moments.push(state.now);
  if (moments.length > kMoments) moments.shift();
  if (!document.hidden) show();
}

function link(text, kind) {
  at("link").textContent = text;
  at("link").className = kind;
}
function showAge() {
  const age = Math.round((Date.now() - came) / 1000);
  age < 5 ? link("live", "good") : link(`no data for ${age} s`, "bad");
}
async function get(path, signal) {
  const answer = await fetch(path, {headers: token ? {Authorization: `Bearer ${token}`} : {}, cache: "no-store", signal});
  if (answer.status === 401) throw new Error("token");
  if (answer.status === 503) throw new Error("busy");
  if (!answer.ok) throw new Error(`${answer.status}`);
  return answer;
}
// Server-sent events: EventSource could not show the token. Nothing for some seconds: the way there is gone.
async function follow() {
  const control = stream = new AbortController();
  let timer = 0, age = 0;
  const wait = () => { clearTimeout(timer); timer = setTimeout(() => control.abort(), 40000); };
  try {
    wait();
    const reader = (await get(`/api/events?${rowsQuery()}`, control.signal)).body.pipeThrough(new TextDecoderStream()).getReader();
    if (!moments.length) moments = await get("/api/history", control.signal).then(answer => answer.json(), () => []);
    age = setInterval(() => came && showAge(), 1000);
    for (let text = "";;) {
      const {value, done} = await reader.read();
      if (done) return;
      wait();
      const events = (text += value).split("\n\n");
      text = events.pop();
      for (const event of events) if (event.startsWith("data: ")) take(event.slice(6));
      came = Date.now();
      showAge();
    }
  } finally {
    clearTimeout(timer);
    clearInterval(age);
    control.abort();
  }
}
async function stay() {
  for (;;) {
    let isBusy = false;
    try { await follow(); } catch (problem) {
      if (stream.signal.reason === kOtherRows) continue;
      if (problem.message === "token") {
        link("a token is needed", "bad");
        at("ask").hidden = false;
        at("all").hidden = true;
        return;
      }
      isBusy = problem.message === "busy";
    }
    moments = [];
    link(isBusy ? "the monitor is busy with other views: retrying" : came ? `not connected since ${new Date(came).toLocaleTimeString()}: retrying` : "not connected: retrying", "bad");
    await new Promise(done => setTimeout(done, 2000));
  }
}
at("ask").onsubmit = event => {
  event.preventDefault();
  token = sessionStorage.token = at("token").value.trim();
  at("ask").hidden = true;
  at("all").hidden = false;
  stay();
};
document.onvisibilitychange = () => !document.hidden && state && show();
window.onhashchange = () => takeToken() && location.reload();
window.onresize = () => state && showCharts();
stay();
