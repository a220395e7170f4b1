// The page: figures are drawn when they come into view, again when their room changes, and all of them for paper.

const root = document.documentElement;
const figures = JSON.parse(document.getElementById("figures").textContent);
const places = Array.from(document.querySelectorAll("[data-figure]"));
const states = new Map(places.map((place) => [place, { hidden: new Set(), zoom: null, isLinear: false }]));
// Wide enough to read on A4 and on Letter.
const PAPER = { width: 670, height: 320 };

function draw(place, size) {
  const figure = figures[place.dataset.figure];
  const state = states.get(place);
  const width = (size && size.width) || place.clientWidth;
  const height = (size && size.height) || Number.parseFloat(getComputedStyle(place).getPropertyValue("--height"));
  if (!width) return;
  const drawing = htmlPart("div", "drawing");
  const svg = svgPart("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img" }, drawing);
  svg.setAttribute("aria-label", figure.title);
  svg.setAttribute("aria-describedby", `${place.dataset.figure}-words`);
  const isHeat = figure.kind === "heat";
  const plan = isHeat ? laidOutHeat(figure, width, height) : laidOut(figure, state, width, height);
  if (isHeat) drawHeat(plan, svg);
  else drawPlot(plan, svg, `${place.dataset.figure}-clip`);
  const again = (change) => {
    change();
    draw(place);
  };
  makeReadable(plan, drawing, svg, state, again);
  const old = place.querySelector(".drawing");
  const hadFocus = old && old.contains(document.activeElement);
  if (old) old.replaceWith(drawing);
  else place.append(...(isHeat ? [] : [legendOf(figure, state, again)]), drawing);
  if (hadFocus) drawing.querySelector(".reader").focus();
  place.dataset.drawn = "yes";
  place.dataset.width = width;
  place.dataset.scale = plan.isLog ? "log" : "linear";
  place.dataset.zoomed = state.zoom ? "yes" : "no";
  report();
}

/** Each name hides and shows its series. */
function legendOf(figure, state, again) {
  const list = htmlPart("ul", "legend");
  figure.series.forEach(function (series, number) {
    const button = htmlPart("button", "", htmlPart("li", "", list));
    button.type = "button";
    button.setAttribute("aria-pressed", "true");
    button.append(sampleOf(series));
    htmlPart("span", "", button, series.name);
    button.addEventListener("click", function () {
      const isHidden = state.hidden.has(number);
      button.setAttribute("aria-pressed", String(isHidden));
      again(() => (isHidden ? state.hidden.delete(number) : state.hidden.add(number)));
    });
  });
  return list;
}

const isDrawn = (place) => place.dataset.drawn === "yes";

/** What a test, or a curious reader, wants to know of the page. */
function report() {
  root.dataset.figures = places.length;
  root.dataset.drawn = places.filter(isDrawn).length;
  root.dataset.overflow = Math.max(0, root.scrollWidth - root.clientWidth);
}

const seen = new IntersectionObserver(
  function (entries) {
    for (const { isIntersecting, target } of entries) {
      if (isIntersecting && !isDrawn(target)) draw(target);
    }
  },
  { rootMargin: "400px" },
);
const sized = new ResizeObserver(function (entries) {
  // On paper the width was told, and after it what is seen is drawn again anyway.
  if (root.dataset.theme === "light") return;
  for (const { target } of entries) {
    if (isDrawn(target) && target.clientWidth !== Number(target.dataset.width)) draw(target);
  }
});
for (const place of places) {
  seen.observe(place);
  sized.observe(place);
}

for (const button of document.querySelectorAll("[data-scale-of]")) {
  button.addEventListener("click", function () {
    const place = places.find((place) => place.dataset.figure === button.dataset.scaleOf);
    const state = states.get(place);
    state.isLinear = !state.isLinear;
    button.textContent = `${state.isLinear ? "log" : "linear"} scale`;
    draw(place);
  });
}

/** A link to a folded case unfolds it. */
function unfold() {
  const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target && target.tagName === "DETAILS") {
    target.open = true;
    target.scrollIntoView();
  }
}
addEventListener("hashchange", unfold);
unfold();
addEventListener("resize", report);

// Paper is white and cannot be unfolded.
addEventListener("beforeprint", function () {
  root.dataset.theme = "light";
  document.querySelectorAll("details").forEach((details) => (details.open = true));
  places.forEach((place) => draw(place, PAPER));
});
addEventListener("afterprint", function () {
  delete root.dataset.theme;
  places.forEach((place) => draw(place));
});

report();
root.dataset.ready = "yes";
