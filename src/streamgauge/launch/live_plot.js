"use strict";
// What both live pages draw with: that of a run's own terminal, and that of `streamgauge serve`.
const at = (id) => document.getElementById(id);
const whole = (n) => Math.round(n).toLocaleString("en");
const digits = (n) => (n === null || n === undefined ? "–" : n >= 100 ? whole(n) : n.toPrecision(3));

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

/** Rows begin with their second; `columns`: which of a row's figures are lines, and of which class. */
function plot(place, rows, { columns, log }, marks = []) {
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
