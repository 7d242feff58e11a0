// SPDX-License-Identifier: Apache-2.0
// The table of flows or groups, which the server sorts and filters.
"use strict";
const kNarrow = matchMedia("(max-width: 600px)");
const kMostOpened = 8, kWindows = ["2", "10", "60"];
let by = "", sort = "bit/s", falls = true, filter = "", window_s = "10", idle = false, opened = [], heads = "", kinds = "", typing = 0, shownQuery = "", wantsFocus = "";

function rowsQuery() {
  const query = new URLSearchParams({sort, order: falls ? "falling" : "rising", filter, window: window_s, idle: idle ? "1" : "0"});
  if (by) query.set("by", by);
  if (opened.length) query.set("within", opened.map(each => each.name).join());
  return query;
}
// Asks the server for other rows. The present rows stay until those come.
function askAnew(changes) {
  changes();
  showKinds();
  stream?.abort(kOtherRows);
}
const kindOf = name => state?.kinds.find(kind => kind.name === name);

function showRowsBy(name) {
  askAnew(() => {
    by = name;
    sort = "bit/s";
    falls = true;
  });
}
// Opens a group: only its flows are shown from now on, added up in another way.
function openRow(name, text) {
  const kind = kindOf(name.split(":")[0]);
  if (!kind || opened.length === kMostOpened) return;
  askAnew(() => {
    opened.push({name, text: `${kind.name} ${text}`, by, sort, falls, filter});
    by = kind.opens;
    sort = "bit/s";
    falls = true;
    at("filter").value = filter = "";
  });
  at("back").focus();
}
// Leaves the group that was opened last.
function goBack() {
  if (!opened.length) return;
  askAnew(() => {
    ({by, sort, falls, filter, name: wantsFocus} = opened.pop());
    at("filter").value = filter;
  });
}
const openedText = () => opened.map(each => each.text).join(" \u203a ");

function showKinds() {
  [...at("windows").children].forEach((button, i) => { button.ariaPressed = String(kWindows[i] === window_s); });
  at("idle").ariaPressed = String(idle);
  if (!state) return;
  if (!by) by = state.rows?.by ?? "";
  const names = state.kinds.map(kind => kind.name).join();
  if (names !== kinds) {
    kinds = names;
    at("kinds").replaceChildren(...state.kinds.map(({name, many}) => {
      const button = element("button", many);
      button.onclick = () => showRowsBy(name);
      return button;
    }));
  }
  state.kinds.forEach(({name}, i) => { at("kinds").children[i].ariaPressed = String(name === by); });
  at("back").hidden = !opened.length;
  at("within").textContent = openedText();
}
// The columns in the order in which they are shown: on a narrow screen the numbers come first.
function places(columns) {
  const all = columns.map((_, i) => i), keys = all.filter(i => columns[i].is_text), rates = all.filter(i => ["pps", "bit/s"].includes(columns[i].name));
  return kNarrow.matches ? [...rates.reverse(), ...keys, ...all.filter(i => !keys.includes(i) && !rates.includes(i))] : all;
}
function showHeads({columns, exact}) {
  const order = places(columns), names = JSON.stringify([columns, order, exact]);
  if (names !== heads) {
    heads = names;
    const row = element("tr");
    for (const column of order.map(i => columns[i])) {
      const th = element("th", "", column.is_text ? "left" : ""), button = element("button", column.name);
      th.scope = "col";
      th.dataset.name = column.name;
      button.title = column.help;
      button.onclick = () => askAnew(() => {
        falls = sort === column.name ? !falls : !column.is_text;
        sort = column.name;
      });
      th.append(button);
      row.append(th);
    }
    at("names").replaceChildren(row);
  }
  for (const th of at("names").querySelectorAll("th")) {
    const name = th.dataset.name, isSorted = name === sort, isLess = !exact && (name === "packets" || name === "bytes");
    th.ariaSort = isSorted ? (falls ? "descending" : "ascending") : "none";
    th.firstChild.textContent = (isLess ? "\u2265 " : "") + name + (isSorted ? (falls ? " \u25be" : " \u25b4") : "");
  }
}
// Rows stay as they are while text of them is selected: else nobody could copy it.
function isSelected(part) {
  const selection = getSelection();
  return !selection.isCollapsed && part.contains(selection.anchorNode);
}
function showRows() {
  showKinds();
  const rows = state.rows, problem = rows?.problem || rows?.filter_problem;
  at("problem").textContent = rows?.filter_problem ? `filter: ${problem}` : problem ?? "";
  at("problem").hidden = !problem;
  if (!rows?.columns) return;
  const query = rowsQuery().toString();
  if (query === shownQuery && isSelected(at("flows"))) {
    at("shown").textContent = "not updated while text is selected";
    return;
  }
  shownQuery = query;
  showHeads(rows);
  const order = places(rows.columns), inField = document.activeElement?.tagName === "INPUT", focused = inField ? "" : wantsFocus || document.activeElement?.dataset?.name;
  wantsFocus = "";
  const firstKey = rows.columns.findIndex(column => column.is_text && column.name !== "protocol"), openKey = firstKey < 0 ? 0 : firstKey;
  const cell = (row, i, name) => {
    const {name: column, unit, values, is_text} = rows.columns[i];
    const value = values && row[i] !== null ? values[row[i]] : row[i];
    const isWhole = column === "packets" || column === "bytes";
    const text = typeof value === "string" ? value : isWhole ? whole(value) : unit === "ns" ? time(value) : scaled(value);
    const td = element("td", name && i === openKey ? "" : text, is_text ? "left" : "");
    if (name && i === openKey) {
      const button = element("button", text);
      button.dataset.name = name;
      button.onclick = () => openRow(name, rows.columns.map((each, k) => each.is_text ? row[k] : "").filter(part => part).join(" "));
      td.append(button);
    }
    return td;
  };
  at("flows").replaceChildren(...rows.rows.map((row, r) => {
    const tr = element("tr");
    tr.append(...order.map(i => cell(row, i, rows.names[r])));
    return tr;
  }));
  const again = focused ? [...at("flows").querySelectorAll("button")].find(button => button.dataset.name === focused) : null;
  again?.focus({preventScroll: true});
  const many = kindOf(rows.by)?.many ?? "flows";
  at("shown").textContent = `${whole(rows.rows.length)} of ${whole(rows.matched)} ${many}` + (rows.idle ? `, ${whole(rows.idle)} idle` : "");
}

at("filter").oninput = () => {
  clearTimeout(typing);
  typing = setTimeout(() => askAnew(() => { filter = at("filter").value; }), 300);
};
at("back").onclick = () => goBack();
at("idle").onclick = () => askAnew(() => { idle = !idle; });
[...at("windows").children].forEach((button, i) => { button.onclick = () => askAnew(() => { window_s = kWindows[i]; }); });
// From rates to totals, and back.
function changeOrder() {
  const other = {"bit/s": "bytes", bytes: "bit/s", pps: "packets", packets: "pps"};
  askAnew(() => {
    sort = other[sort] ?? "bit/s";
    falls = true;
  });
}
document.onkeydown = event => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
  const inField = document.activeElement.tagName === "INPUT";
  if (event.key === "/" && !inField) {
    at("filter").focus();
    event.preventDefault();
  } else if (event.key === "f" && !inField && state) {
    const all = state.kinds.map(kind => kind.name);
    showRowsBy(all[(all.indexOf(by) + 1) % all.length]);
  } else if ("216".includes(event.key) && !inField) {
    askAnew(() => { window_s = kWindows["216".indexOf(event.key)]; });
  } else if (event.key === "o" && !inField) {
    changeOrder();
  } else if (event.key === "z" && !inField) {
    at("idle").click();
  } else if (event.key === "Escape") {
    if (!at("filter").value) return goBack();
    at("filter").value = "";
    at("filter").blur();
    askAnew(() => { filter = ""; });
  }
};
kNarrow.onchange = () => state && showRows();
