// Reading values off a figure: by pointer, by finger, and by keys, which a screen reader passes on to a slider.

/** Everything that can be read, in the order in which keys go through it. */
function stopsOf(plan) {
  if (plan.figure.kind === "heat") return heatStops(plan);
  const told = plan.shown.filter((series) => series.told);
  return plan.figure.reading === "across" ? acrossStops(plan, told) : pointStops(plan, told);
}

function lineText(series, number) {
  const label = series.labels ? `${series.labels[number]}: ` : "";
  return `${label}${withUnit(series.y[number], series.told)}`;
}

function acrossStops(plan, told) {
  const found = new Map();
  const { stretch } = plan.figure;
  for (const series of told) {
    const points = pointsOf(plan, series);
    series.x.forEach((x, number) => {
      if (!points[number]) return;
      // Of a thinned plot each series has two points in a stretch, mostly at places of its own.
      const place = stretch ? Math.floor(x / stretch) : x;
      if (!found.has(place)) found.set(place, { x, lines: [] });
      const { lines } = found.get(place);
      const line = { series, text: lineText(series, number), point: points[number], y: series.y[number] };
      const other = stretch && lines.find((one) => one.series === series);
      if (!other) lines.push(line);
      else if (other.y !== line.y) other.text = other.y < line.y ? `${other.text} to ${line.text}` : `${line.text} to ${other.text}`;
    });
  }
  const title = (place, x) =>
    stretch ? `${plan.x.textOf(place * stretch)} to ${plan.x.textOf((place + 1) * stretch)}` : plan.x.textOf(x);
  const stops = [...found].map(([place, { x, lines }]) => ({ at: lines[0].point, title: title(place, x), lines, isAcross: true }));
  return within(plan, stops).sort((one, other) => one.at[0] - other.at[0]);
}

function pointStops(plan, told) {
  return within(
    plan,
    told.flatMap((series) => {
      const points = pointsOf(plan, series);
      return points.flatMap((point, number) =>
        point ? [{ at: point, title: "", lines: [{ series, text: lineText(series, number), point }] }] : [],
      );
    }),
  );
}

const within = (plan, stops) => stops.filter(({ at }) => at[0] >= plan.left - 1 && at[0] <= plan.right + 1);

function heatStops({ figure, x, y }) {
  return figure.rows.flatMap((name, row) =>
    figure.columns.flatMap((column, number) => {
      const cell = figure.cells[row][number];
      return cell ? [{ at: [x.at(column), y.at(name)], title: cell.title, lines: cell.about.map((text) => ({ text })) }] : [];
    }),
  );
}

const stopText = ({ title, lines }) =>
  [title, ...lines.map(({ series, text }) => (series ? `${series.name}: ${text}` : text))].filter(Boolean).join("; ");

function nearestStop(stops, x, y) {
  let best = -1;
  let least = Infinity;
  stops.forEach((stop, number) => {
    const away = stop.isAcross ? Math.abs(stop.at[0] - x) : Math.hypot(stop.at[0] - x, stop.at[1] - y);
    if (away < least) [best, least] = [number, away];
  });
  return best;
}

function htmlPart(name, class_, parent, text) {
  const made = document.createElement(name);
  if (class_) made.className = class_;
  if (text !== undefined) made.textContent = text;
  if (parent) parent.append(made);
  return made;
}

/** A sample of how a series is drawn, for the legend and beside what is read. */
function sampleOf(series) {
  const svg = svgPart("svg", { width: 22, height: 12, viewBox: "0 0 22 12", "aria-hidden": "true" });
  if (series.mark === "bars") drawSwatch(series, svg);
  else if (series.mark === "points") drawPoints([[11, 6]], series, svg);
  else drawLine([[1, 6], [21, 6]], series, svg);
  return svg;
}

function drawSwatch(series, svg) {
  const made = svgPart("rect", { x: 4, y: 1, width: 12, height: 10, rx: 2 }, svg);
  Object.assign(made.style, { fill: colourOf(series), opacity: series.opacity ?? 1 });
}

/** `redraw`: of the same figure, in another state. */
function makeReadable(plan, drawing, svg, state, redraw) {
  const stops = stopsOf(plan);
  const marks = svgPart("g", { class: "read" }, svg);
  const told = htmlPart("div", "told", drawing);
  const reader = htmlPart("div", "reader", drawing);
  const box = { left: plan.left, top: plan.top, width: plan.right - plan.left, height: plan.bottom - plan.top };
  for (const [side, pixels] of Object.entries(box)) reader.style[side] = `${pixels}px`;
  const attributes = { role: "slider", tabindex: 0, "aria-label": `Values of: ${plan.figure.title}`, "aria-valuemin": 0 };
  attributes["aria-valuemax"] = Math.max(0, stops.length - 1);
  attributes["aria-valuenow"] = 0;
  attributes["aria-valuetext"] = stops.length ? stopText(stops[0]) : "nothing to read";
  for (const [key, value] of Object.entries(attributes)) reader.setAttribute(key, value);
  let current = -1;

  function clear() {
    marks.replaceChildren();
    told.hidden = true;
    current = -1;
  }

  function show(number) {
    if (number < 0 || number >= stops.length) return;
    current = number;
    const stop = stops[number];
    reader.setAttribute("aria-valuenow", number);
    reader.setAttribute("aria-valuetext", stopText(stop));
    marks.replaceChildren();
    if (stop.isAcross) svgPart("path", { d: `M${stop.at[0]} ${plan.top}V${plan.bottom}`, class: "rule" }, marks);
    for (const { series, point } of stop.lines) {
      if (point && series.mark !== "bars") svgPart("circle", { cx: point[0], cy: point[1], r: 4 }, marks).style.fill = colourOf(series);
    }
    fillTold(told, stop);
    placeTold(told, stop, plan);
  }

  const pointed = (event) => {
    const found = svg.getBoundingClientRect();
    return [event.clientX - found.left, event.clientY - found.top];
  };
  reader.addEventListener("pointermove", (event) => show(nearestStop(stops, ...pointed(event))));
  reader.addEventListener("pointerdown", (event) => show(nearestStop(stops, ...pointed(event))));
  reader.addEventListener("pointerleave", () => document.activeElement !== reader && clear());
  reader.addEventListener("focus", () => reader.matches(":focus-visible") && current < 0 && show(0));
  reader.addEventListener("blur", clear);
  const moves = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 };
  reader.addEventListener("keydown", function (event) {
    if (event.key in moves) show(Math.min(stops.length - 1, Math.max(0, current + moves[event.key])));
    else if (event.key === "Home") show(0);
    else if (event.key === "End") show(stops.length - 1);
    else if (event.key === "Escape" && state.zoom) redraw(() => (state.zoom = null));
    else if (event.key === "Escape") clear();
    else return;
    event.preventDefault();
  });
  clear();
  if (plan.x.valueAt) makeZoomable(plan, reader, drawing, pointed, state, redraw);
}

function fillTold(told, { title, lines }) {
  told.replaceChildren();
  if (title) htmlPart("strong", "", told, title);
  for (const { series, text } of lines) {
    const line = htmlPart("div", "", told);
    if (series) line.append(sampleOf(series));
    htmlPart("span", "", line, series ? `${series.name}: ${text}` : text);
  }
  told.hidden = false;
}

/** Beside the point, on the side where there is room. */
function placeTold(told, { at }, plan) {
  const isRight = at[0] > plan.width / 2;
  told.style.left = isRight ? "auto" : `${at[0] + 14}px`;
  told.style.right = isRight ? `${plan.width - at[0] + 14}px` : "auto";
  told.style.maxWidth = `${Math.max(140, (isRight ? at[0] : plan.width - at[0]) - 18)}px`;
  const top = Math.min(Math.max(at[1] - told.offsetHeight / 2, 0), Math.max(0, plan.height - told.offsetHeight));
  told.style.top = `${top}px`;
}

/** A mouse that is drawn over a stretch zooms into it; two clicks show all again. A finger scrolls the page. */
function makeZoomable(plan, reader, drawing, pointed, state, redraw) {
  let from = null;
  const stretch = htmlPart("div", "stretch", drawing);
  stretch.hidden = true;
  const inside = (pixel) => Math.min(plan.right, Math.max(plan.left, pixel));
  reader.addEventListener("pointerdown", function (event) {
    if (event.pointerType !== "mouse" || event.button) return;
    from = inside(pointed(event)[0]);
    reader.setPointerCapture(event.pointerId);
  });
  reader.addEventListener("pointermove", function (event) {
    if (from === null) return;
    const to = inside(pointed(event)[0]);
    stretch.hidden = Math.abs(to - from) < 8;
    Object.assign(stretch.style, { left: `${Math.min(from, to)}px`, width: `${Math.abs(to - from)}px` });
    Object.assign(stretch.style, { top: `${plan.top}px`, height: `${plan.bottom - plan.top}px` });
  });
  reader.addEventListener("pointerup", function (event) {
    if (from === null) return;
    const ends = [from, inside(pointed(event)[0])].sort((one, other) => one - other);
    from = null;
    stretch.hidden = true;
    if (ends[1] - ends[0] >= 8) redraw(() => (state.zoom = ends.map(plan.x.valueAt)));
  });
  const showAll = () => redraw(() => (state.zoom = null));
  reader.addEventListener("dblclick", () => state.zoom && showAll());
  if (state.zoom) {
    const button = htmlPart("button", "show-all", drawing, "show all");
    button.type = "button";
    button.addEventListener("click", showAll);
  }
}
