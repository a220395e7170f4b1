"use strict";
const at = (id) => document.getElementById(id);
const root = document.documentElement;
const home = document.querySelector("[data-live]");
const whole = (n) => Math.round(n).toLocaleString("en");
const digits = (n) => (n === null || n === undefined ? "–" : n >= 100 ? whole(n) : n.toPrecision(3));
const mebibytes = (n) => `${whole(n / 1048576)} MiB`;
const LINES = {
  rates: { columns: [[1, "line-1"], [2, "line-2"]], log: false },
  latencies: { columns: [[3, "line-1"], [4, "line-2"], [5, "line-4"]], log: true },
  cores: { columns: [[6, "line-3"], [7, "line-5"]], log: false },
};
const SECONDS = 900;
let rows = [], told = null;

function element(name, text, attributes = {}) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function drawn(name, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

/** The smallest plain number that is not below. */
function nice(top) {
  const step = 10 ** Math.floor(Math.log10(top));
  return [1, 2, 2.5, 5, 10].map((n) => n * step).find((n) => n >= top * 0.999);
}

function scaleOf(values, log) {
  const most = Math.max(...values), least = Math.min(...values);
  if (!log) {
    const high = nice(most > 0 ? most : 1);
    return { high, low: 0, part: (v) => v / high, ticks: [0, 1, 2, 3, 4].map((k) => (high * k) / 4) };
  }
  const high = 10 ** Math.ceil(Math.log10(most)), low = Math.min(high / 10, 10 ** Math.floor(Math.log10(least)));
  const ticks = [];
  for (let v = low; v <= high * 1.001; v *= 10) ticks.push(v);
  return { high, low, part: (v) => Math.log10(Math.max(v, low) / low) / Math.log10(high / low), ticks };
}

function plot(place, { columns, log }, marks) {
  const width = Math.max(280, at(place).clientWidth), height = 220, left = 56, right = 14, top = 12, bottom = 26;
  const svg = drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": at(`${place}-title`).textContent });
  const values = rows.flatMap((row) => columns.map(([c]) => row[c])).filter((v) => v !== null && (!log || v > 0));
  if (values.length) {
    const { part, ticks } = scaleOf(values, log);
    const first = rows[0][0], last = Math.max(rows[rows.length - 1][0], first + 10);
    const x = (s) => left + ((width - left - right) * (s - first)) / (last - first);
    const y = (v) => top + (height - top - bottom) * (1 - part(v));
    for (const v of ticks) {
      svg.append(drawn("line", { x1: left, x2: width - right, y1: y(v), y2: y(v), class: "grid" }));
      const text = v >= 1000 ? whole(v) : String(Number(v.toPrecision(3)));
      svg.append(drawn("text", { x: left - 8, y: y(v) + 4, "text-anchor": "end" }, text));
    }
    const most = Math.max(2, Math.floor(width / 90));
    const step = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600].find((n) => (last - first) / n <= most) || 1200;
    for (let s = Math.ceil(first / step) * step; s <= last; s += step)
      svg.append(drawn("text", { x: x(s), y: height - 6, "text-anchor": "middle" }, `${s} s`));
    for (const [at_s, words] of marks.filter(([s]) => s >= first && s <= last)) {
      const line = drawn("line", { x1: x(at_s), x2: x(at_s), y1: top, y2: height - bottom, class: "mark" });
      line.append(drawn("title", {}, words));
      const isLeft = x(at_s) < width / 2;
      svg.append(line, drawn("text", { x: x(at_s) + (isLeft ? 5 : -5), y: top + 10, "text-anchor": isLeft ? "start" : "end", class: "mark-words" }, words.slice(0, 40)));
    }
    for (const [column, name] of columns) {
      const points = rows.filter((row) => row[column] !== null).map((row) => `${x(row[0]).toFixed(1)},${y(row[column]).toFixed(1)}`);
      svg.append(drawn("polyline", { points: points.join(" "), class: name }));
    }
  }
  at(place).replaceChildren(svg);
}

function facts() {
  const now = rows.length ? rows[rows.length - 1] : null, { sent, received, done, planned } = told.counts;
  const greatest = rows.reduce((most, row) => (row[5] !== null && (most === null || row[5] > most) ? row[5] : most), null);
  const taken = received || done;
  const waiting = sent > 0 && received > 0 && sent >= received && !told.words ? whole(sent - received) : null;
  const shown = [
    [sent || !taken ? whole(sent) : whole(taken), sent || !taken ? (planned ? `sent of ${whole(planned)}` : "sent") : "messages so far"],
    sent || !taken ? [whole(taken), "received"] : [told.share === null ? "–" : `${Math.round(told.share * 100)}%`, "of all turns"],
    [now ? whole(now[2] || now[1]) : "–", "messages a second, now"],
    [now ? `${digits(now[3])} ms` : "–", "p50 now"],
    [now ? `${digits(now[4])} ms` : "–", "p99 now"],
    waiting !== null ? [waiting, "sent, not received yet"] : [greatest === null ? "–" : `${digits(greatest)} ms`, "greatest so far"],
  ];
  at("facts").replaceChildren(...shown.map(([value, name]) => {
    const tile = element("div", undefined, { class: "tile" });
    tile.append(element("dt", name), element("dd", value, { class: "count" }));
    return tile;
  }));
}

function resources() {
  const table = element("table"), head = element("thead"), body = element("tbody"), top = element("tr");
  const box = element("div", undefined, { class: "scroll", tabindex: "0", role: "region", "aria-label": "CPU and memory of every process" });
  for (const name of ["process", "kind", "CPU, cores", "memory"]) top.append(element("th", name, { scope: "col" }));
  head.append(top);
  for (const each of told.resources) {
    const line = element("tr"), of = each.kind === "machine" && told.machine_cores ? ` of ${told.machine_cores}` : "";
    line.append(element("th", each.name, { scope: "row" }));
    for (const cell of [each.kind, `${each.cores.toFixed(2)}${of}`, mebibytes(each.rss_bytes)]) line.append(element("td", cell));
    body.append(line);
  }
  table.append(head, body);
  box.append(table);
  const shown = told.resources.length ? box : element("p", "Nothing has been told yet.", { class: "note" });
  at("resources").replaceChildren(shown);
}

function progress() {
  const { sent, planned } = told.counts, bar = at("progress");
  const share = told.share !== null ? told.share : planned ? Math.min(1, sent / planned) : null;
  if (share === null) bar.removeAttribute("value");
  else bar.value = share;
}

function words() {
  const of = told.planned_cases > 1 ? `case ${told.done + (told.is_over ? 0 : 1)} of ${told.planned_cases}` : "";
  const stage = told.stage ? `${told.stage}${told.stage_s === null ? "" : ` for ${told.stage_s} s`}` : "";
  const parts = [stage, of, told.target, told.about, told.words].filter(Boolean);
  at("stage").textContent = told.is_over ? told.reason || "It is over." : parts.join(" · ");
  const pill = at("state").firstElementChild;
  pill.textContent = told.is_over ? told.state : "running";
  pill.className = `pill ${told.is_over ? (told.state === "ok" ? "good" : "warn") : "plain"}`;
  const times = told.times_are ? `Time of ${told.times_are}, ms` : "Latency from the intended send, ms";
  at("latencies-title").textContent = times;
}

function show() {
  if (!told) return;
  words();
  progress();
  facts();
  for (const [place, lines] of Object.entries(LINES)) plot(place, lines, told.marks);
  resources();
  root.dataset.rows = rows.length;
}

function hear(message) {
  told = JSON.parse(message.data);
  const last = rows.length ? rows[rows.length - 1][0] : -1;
  rows = [...rows, ...told.rows.filter((row) => row[0] > last)].slice(-SECONDS);
  if (!document.hidden) show();
  if (told.is_over) {
    source.close();
    root.dataset.over = "yes";
    setTimeout(() => location.replace(home.dataset.run), 1500);
  }
}

const source = new EventSource(home.dataset.live);
source.addEventListener("message", hear);
source.addEventListener("error", () => {
  if (told && !told.is_over) at("stage").textContent = "The server does not answer; trying again.";
});
addEventListener("pagehide", () => source.close());
document.addEventListener("visibilitychange", () => document.hidden || show());
new ResizeObserver(show).observe(at("rates"));
root.dataset.ready = "yes";
