// SPDX-License-Identifier: Apache-2.0
"use strict";
// The parts of both pages: a token, texts, tables, charts, and the stream of states.
const kMoments = 600;
// The reason for which a page ends a stream to begin another one.
const kOtherRows = new Error("other rows are wanted");
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

// Lines over the last minutes, from 0 up. `lines` has functions that give a value of a moment, or null, and their colors.
function chart(canvas, lines, text) {
  const scale = devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
  canvas.width = width * scale;
  canvas.height = height * scale;
  const draw = canvas.getContext("2d"), style = getComputedStyle(document.documentElement), ink = name => style.getPropertyValue(name);
  draw.scale(scale, scale);
  draw.font = "11px system-ui, sans-serif";
  const most = Math.max(...lines.flatMap(([of]) => moments.map(of)), 1e-9), step = 10 ** Math.floor(Math.log10(most));
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
    if (share) draw.fillText(text(top * share), 0, y(top * share) - 3);
  }
  const ago = seconds => seconds >= 120 ? `${Math.round(seconds / 60)} min ago` : `${Math.round(seconds)} s ago`;
  draw.fillText(ago(last - first), 0, height - 3);
  draw.fillText("now", width - draw.measureText("now").width, height - 3);
  for (const [of, color] of lines) {
    const points = moments.filter(moment => of(moment) !== null);
    if (!points.length) continue;
    draw.beginPath();
    points.forEach(moment => draw.lineTo(x(moment[0]), y(of(moment))));
    draw.strokeStyle = ink(color);
    draw.lineWidth = 1.5;
    draw.stroke();
    draw.lineTo(x(points[points.length - 1][0]), bottom);
    draw.lineTo(x(points[0][0]), bottom);
    draw.globalAlpha = 0.12;
    draw.fillStyle = ink(color);
    draw.fill();
    draw.globalAlpha = 1;
  }
}

// A page has show(), showCharts(), and query(), which says what states it wants.
function take(text) {
  state = JSON.parse(text);
  const now = state.now;  // null: there is none yet
  if (now && moments.length && now[0] < moments[moments.length - 1][0]) moments = [];  // another run
  if (now && (!moments.length || now[0] > moments[moments.length - 1][0])) moments.push(now);
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
    const reader = (await get(`/api/events?${query()}`, control.signal)).body.pipeThrough(new TextDecoderStream()).getReader();
    if (!moments.length) moments = await get("/api/history", control.signal).then(answer => answer.json(), () => []);
    age = setInterval(() => came && showAge(), 1000);
    for (let text = "";;) {
      const {value, done} = await reader.read();
      if (done) return;
      wait();
      const events = (text += value).split("\n\n");
      text = events.pop();
      for (const event of events) {
        if (!event.startsWith("data: ")) continue;
        try { take(event.slice(6)); } catch (problem) { setTimeout(() => { throw problem; }); }  // an error here, not of the connection
      }
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
