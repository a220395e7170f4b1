// A figure as SVG. Colours are the page's own variables, so a change of theme needs no drawing again.

const SVG = "http://www.w3.org/2000/svg";
const DASHES = {
  dashed: "7 5",
  dotted: "2 4",
  "dash-dotted": "8 4 2 4",
  "long-dashed": "12 5",
  "long-dash-dotted": "12 4 2 4",
};
// Strong enough to be told apart, faint enough to read words on, in light and dark.
const HEAT = [[15, 138, 126, 0.65], [128, 138, 150, 0.1], [217, 115, 13, 0.6]];
const EDGE = { top: 10, right: 14 };
const LINE_HEIGHT = 16;
const GROUP_SHARE = 0.78;

const textWidth = (function () {
  const context = document.createElement("canvas").getContext("2d");
  context.font = "12px system-ui, sans-serif";
  return (text) => context.measureText(text).width;
})();

function svgPart(name, attributes, parent) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (parent) parent.append(made);
  return made;
}

function textPart(text, x, y, anchor, parent, extra = {}) {
  const made = svgPart("text", { x, y, "text-anchor": anchor, ...extra }, parent);
  made.textContent = text;
  return made;
}

const colourOf = (series) => `var(--${series.colour})`;
const round = (pixel) => Math.round(pixel * 10) / 10;

/** The rooms of a figure: ticks and titles around, the values within. */
function laidOut(figure, state, width, height) {
  const shown = figure.series.filter((_, number) => !state.hidden.has(number));
  const isWithin = (x) => !state.zoom || (x >= state.zoom[0] && x <= state.zoom[1]);
  const valuesOf = (isSecond) =>
    shown
      .filter((series) => Boolean(series.second) === isSecond)
      .flatMap((series) => series.y.filter((_, number) => isWithin(series.x[number])));
  const yAxis = state.isLinear ? { ...figure.y, scale: "linear", byDecades: false } : figure.y;
  const hasBars = figure.series.some((series) => series.mark === "bars");
  const first = hasBars && yAxis.scale === "linear" ? { ...yAxis, fromZero: true } : yAxis;
  const makeY = (axis, isSecond, bottom) => scaleOf(axis, valuesOf(isSecond), bottom, EDGE.top);
  const widest = (scale) => Math.max(0, ...scale.ticks.map((tick) => textWidth(tick.text)));
  const guess = height - 50;
  const left = 12 + widest(makeY(first, false, guess)) + (figure.y.title ? LINE_HEIGHT : 0);
  const second = figure.y2 && makeY(figure.y2, true, guess);
  const right = second ? 12 + widest(second) + (figure.y2.title ? LINE_HEIGHT : 0) : EDGE.right;
  const x = xScale(figure, state, left, width - right);
  const slant = isCrowded(x, width - right - left);
  const room = slant ? Math.min(90, widest(x) * 0.7 + 10) : LINE_HEIGHT;
  const bottom = height - 8 - room - (figure.x.title ? LINE_HEIGHT + 2 : 0);
  const y = makeY(first, false, bottom);
  const y2 = figure.y2 ? makeY(figure.y2, true, bottom) : null;
  return { figure, shown, x, y, y2, left, right: width - right, bottom, top: EDGE.top, width, height, slant, isLog: first.scale === "log" };
}

function xScale(figure, state, left, right) {
  if (figure.x.scale === "names") {
    return namesScale([...new Set(figure.series.flatMap((series) => series.x))], left, right);
  }
  return scaleOf(figure.x, figure.series.flatMap((series) => series.x), left, right, state.zoom);
}

/** Whether ticks with names would run into each other. */
function isCrowded(scale, room) {
  const needed = scale.ticks.reduce((sum, tick) => sum + textWidth(tick.text) + 10, 0);
  return needed > room && scale.ticks.some((tick) => tick.text.length > 4);
}

function drawAxes(plan, svg) {
  const { figure, x, y, y2, left, right, bottom, top } = plan;
  const grid = svgPart("g", { class: "grid" }, svg);
  const words = svgPart("g", { class: "ticks" }, svg);
  for (const { place, text } of y.ticks) {
    const at = round(y.at(place));
    if (figure.y.grid !== false) svgPart("path", { d: `M${left} ${at}H${right}` }, grid);
    textPart(text, left - 7, at + 4, "end", words);
  }
  drawTicksOfX(plan, grid, words);
  for (const { place, text } of y2 ? y2.ticks : []) textPart(text, right + 7, round(y2.at(place)) + 4, "start", words);
  svgPart("path", { d: `M${left} ${bottom}H${right}`, class: "edge" }, svg);
  const titles = svgPart("g", { class: "titles" }, svg);
  const middle = (top + bottom) / 2;
  if (figure.x.title) textPart(figure.x.title, (left + right) / 2, plan.height - 6, "middle", titles);
  if (figure.y.title) textPart(figure.y.title, 0, 0, "middle", titles, { transform: `translate(11 ${middle})rotate(-90)` });
  if (y2 && figure.y2.title) {
    textPart(figure.y2.title, 0, 0, "middle", titles, { transform: `translate(${plan.width - 4} ${middle})rotate(-90)` });
  }
}

function drawTicksOfX({ figure, x, left, right, bottom, top, slant }, grid, words) {
  let free = -Infinity;
  for (const { place, text } of x.ticks) {
    const at = round(x.at(place));
    if (figure.x.grid !== false && !x.names) svgPart("path", { d: `M${at} ${top}V${bottom}` }, grid);
    const half = textWidth(text) / 2;
    if (slant) {
      textPart(text, 0, 0, "end", words, { transform: `translate(${at + 4} ${bottom + 14})rotate(-40)` });
    } else if (at - half > free) {
      // A word at the edge moves in, rather than being cut.
      const inside = Math.min(Math.max(at, half), right + EDGE.right - half);
      textPart(text, round(inside), bottom + 17, "middle", words);
      free = at + half + 6;
    }
  }
}

function drawBands({ figure, x, left, right, bottom, top }, svg) {
  const rows = [];
  for (const { name, start, end } of figure.bands || []) {
    const from = Math.max(left, x.at(start));
    const to = Math.min(right, x.at(end));
    if (to <= from) continue;
    svgPart("rect", { x: round(from), y: top, width: round(to - from), height: bottom - top, class: "band" }, svg);
    // A name that has no room to the right of where it begins stands to the left of where the plot ends.
    const width = textWidth(name);
    const begin = from + 4 + width > right ? right - 4 - width : from + 4;
    const y = top + 13 + LINE_HEIGHT * freeRow(rows, begin, begin + width);
    textPart(name, round(begin), y, "start", svg, { class: "band-name" });
  }
}

/** The first row in which nothing is written there yet; from now on this is. */
function freeRow(rows, begin, end) {
  let row = rows.findIndex((taken) => taken.every(([from, to]) => end < from || begin > to));
  if (row < 0) row = rows.push([]) - 1;
  rows[row].push([begin, end]);
  return row;
}

/** Places of a series' values; null is a gap. */
function pointsOf(plan, series) {
  const scale = series.second ? plan.y2 : plan.y;
  return series.x.map((x, number) => {
    const value = series.y[number];
    const [across, up] = [plan.x.at(x), value === null ? null : scale.at(value)];
    return across === null || up === null ? null : [round(across), round(up)];
  });
}

function linePath(points) {
  let isDown = false;
  return points
    .map((point) => {
      const step = point ? `${isDown ? "L" : "M"}${point[0]} ${point[1]}` : "";
      isDown = Boolean(point);
      return step;
    })
    .join("");
}

const SYMBOLS = {
  circle: (x, y, r) => `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`,
  cross: (x, y, r) => `M${x - r} ${y - r}l${2 * r} ${2 * r}M${x + r} ${y - r}l${-2 * r} ${2 * r}`,
  diamond: (x, y, r) => `M${x} ${y - r - 1}l${r + 1} ${r + 1}l${-r - 1} ${r + 1}l${-r - 1} ${-r - 1}z`,
};

function drawPoints(points, series, parent) {
  const symbol = series.symbol || "circle";
  // One path for all of a series: thousands of repetitions are thousands of elements otherwise.
  const d = points.map((point) => (point ? SYMBOLS[symbol](point[0], point[1], 2.6) : "")).join("");
  const made = svgPart("path", { d, class: "points" }, parent);
  if (symbol === "cross") Object.assign(made.style, { stroke: colourOf(series), strokeWidth: 1.5, fill: "none" });
  else made.style.fill = colourOf(series);
  made.style.opacity = series.opacity ?? 1;
}

function drawLine(points, series, parent) {
  const made = svgPart("path", { d: linePath(points), class: "line" }, parent);
  Object.assign(made.style, { stroke: colourOf(series), strokeWidth: series.width, opacity: series.opacity ?? 1 });
  if (DASHES[series.dash]) made.style.strokeDasharray = DASHES[series.dash];
}

function drawBars(plan, parent) {
  const bars = plan.shown.filter((series) => series.mark === "bars");
  const room = ((plan.x.room || 40) * GROUP_SHARE) / Math.max(1, bars.length);
  bars.forEach((series, number) => {
    const shift = (number - bars.length / 2) * room;
    const d = pointsOf(plan, series)
      .map((point) => (point ? `M${round(point[0] + shift)} ${plan.bottom}V${point[1]}h${round(room * 0.92)}V${plan.bottom}z` : ""))
      .join("");
    const made = svgPart("path", { d, class: "bars" }, parent);
    Object.assign(made.style, { fill: colourOf(series), opacity: series.opacity ?? 1 });
  });
}

function drawPlot(plan, svg, clipId) {
  drawBands(plan, svg);
  drawAxes(plan, svg);
  const clip = svgPart("clipPath", { id: clipId }, svg);
  const { left, right, top, bottom } = plan;
  svgPart("rect", { x: left - 4, y: top - 4, width: right - left + 8, height: bottom - top + 4 }, clip);
  const values = svgPart("g", { "clip-path": `url(#${clipId})` }, svg);
  drawBars(plan, values);
  for (const series of plan.shown.filter((series) => series.mark !== "bars")) {
    const points = pointsOf(plan, series);
    if (series.mark !== "points") drawLine(points, series, values);
    // A value between two gaps has no line to show it.
    const isAlone = (point, number) => point && !points[number - 1] && !points[number + 1];
    const marked = series.mark === "line" ? points.map((point, number) => (isAlone(point, number) ? point : null)) : points;
    if (marked.some(Boolean)) drawPoints(marked, series, values);
  }
}

/** Mixed of the two colours beside the place of a value between −1 and 1. */
function heatColour(value) {
  const [from, to] = value < 0 ? [HEAT[1], HEAT[0]] : [HEAT[1], HEAT[2]];
  const share = Math.min(1, Math.abs(value));
  const [red, green, blue, opacity] = from.map((part, number) => part + (to[number] - part) * share);
  return `rgba(${Math.round(red)},${Math.round(green)},${Math.round(blue)},${opacity.toFixed(3)})`;
}

function laidOutHeat(figure, width, height) {
  const rows = figure.y.down ? figure.rows : [...figure.rows].reverse();
  const left = 12 + Math.max(...figure.rows.map((name) => textWidth(name))) + LINE_HEIGHT;
  const right = width - EDGE.right;
  const bottom = height - 8 - LINE_HEIGHT - LINE_HEIGHT - 38;
  const x = namesScale(figure.columns, left, right);
  return { figure, x, y: namesScale(rows, EDGE.top, bottom), left, right, bottom, top: EDGE.top, width, height: height - 38, rows };
}

function drawHeat(plan, svg) {
  const { figure, x, y, left, right } = plan;
  const cells = svgPart("g", { class: "cells" }, svg);
  figure.rows.forEach((name, row) =>
    figure.columns.forEach((column, number) => {
      const cell = figure.cells[row][number];
      if (!cell) return;
      const [across, up] = [x.at(column) - x.room / 2, y.at(name) - y.room / 2];
      const box = { x: round(across + 1), y: round(up + 1), width: round(x.room - 2), height: round(y.room - 2), rx: 3 };
      const made = svgPart("rect", box, cells);
      made.style.fill = cell.value === null ? "var(--shade)" : heatColour(cell.value / figure.span);
      const lines = y.room < 18 * cell.lines.length ? cell.lines.slice(0, 1) : cell.lines;
      lines.forEach((line, place) =>
        textPart(line, round(x.at(column)), round(y.at(name)) + 4 + (place - (lines.length - 1) / 2) * LINE_HEIGHT, "middle", cells),
      );
    }),
  );
  drawAxes(plan, svg);
  drawColours(figure, left, right, plan.height + 2, svg);
}

function drawColours(figure, left, right, top, svg) {
  const steps = 40;
  const room = (right - left) / steps;
  for (let step = 0; step < steps; step++) {
    const bar = svgPart("rect", { x: round(left + step * room), y: top, width: round(room) + 0.3, height: 8 }, svg);
    bar.style.fill = heatColour((2 * (step + 0.5)) / steps - 1);
  }
  const words = svgPart("g", { class: "ticks" }, svg);
  for (const [place, text] of figure.ticks) {
    const at = left + ((place / figure.span + 1) / 2) * (right - left);
    textPart(text, round(at), top + 24, place === -figure.span ? "start" : place === figure.span ? "end" : "middle", words);
  }
}
