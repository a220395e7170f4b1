(function () {
  "use strict";
  const root = document.documentElement;
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const places = Array.from(document.querySelectorAll("[data-figure]"));
  const dark = matchMedia("(prefers-color-scheme: dark)");
  // A finger on a plot should scroll the page, not zoom the plot.
  const touch = matchMedia("(pointer: coarse)").matches;
  const config = {
    responsive: true,
    displaylogo: false,
    displayModeBar: matchMedia("(hover: hover)").matches ? "hover" : false,
    // Plotly would offer to upload the plot to its makers' site. Nothing leaves this page.
    showSendToCloud: false,
    plotlyServerURL: "",
    modeBarButtons: [["zoom2d", "pan2d", "resetScale2d", "toImage"]],
  };

  /** The value with each "var(--name)" replaced by what the page's theme says. */
  function themed(value, style) {
    if (typeof value === "string") {
      const found = /^var\((--[\w-]+)\)$/.exec(value);
      return found ? style.getPropertyValue(found[1]).trim() : value;
    }
    if (Array.isArray(value)) {
      return typeof value[0] === "object" ? value.map((item) => themed(item, style)) : value;
    }
    if (value && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, themed(item, style)]));
    }
    return value;
  }

  function layoutOf(figure) {
    const axis = {
      gridcolor: "var(--grid)",
      linecolor: "var(--edge)",
      zerolinecolor: "var(--edge)",
      tickfont: { size: 12 },
      title: { font: { size: 12 }, standoff: 8 },
      automargin: true,
    };
    const own = figure.layout;
    const merged = (extra) => ({ ...axis, ...extra, title: { ...axis.title, ...extra.title } });
    return {
      ...own,
      // Said outright, or Plotly keeps the width of the paper after printing.
      autosize: true,
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: "system-ui, sans-serif", size: 13, color: "var(--text)" },
      margin: { l: 48, r: 12, t: 8, b: 40 },
      showlegend: true,
      legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", font: { size: 12 } },
      hoverlabel: { bgcolor: "var(--card)", bordercolor: "var(--edge)", font: { color: "var(--text)" } },
      modebar: { bgcolor: "var(--card)", color: "var(--muted)", activecolor: "var(--accent)" },
      dragmode: touch ? false : "zoom",
      xaxis: merged(own.xaxis),
      yaxis: merged(own.yaxis.type === "log" ? own.yaxis : { ...own.yaxis, dtick: undefined }),
      // A second axis has no lines of its own: two grids in one plot cannot be told apart.
      ...(own.yaxis2 ? { yaxis2: merged({ ...own.yaxis2, showgrid: false }) } : {}),
    };
  }

  function draw(place, size) {
    const figure = figures[place.dataset.figure];
    const style = getComputedStyle(root);
    // Plotly keeps and changes what it is given, so it gets copies.
    const data = themed(structuredClone(figure.data), style);
    return Plotly.react(place, data, { ...themed(layoutOf(figure), style), ...size }, config).then(function () {
      place.dataset.drawn = "yes";
      report();
    });
  }

  const isDrawn = (place) => place.dataset.drawn === "yes";
  const redraw = () => places.filter(isDrawn).forEach((place) => draw(place));

  /** What a test, or a curious reader, wants to know of the page. */
  function report() {
    root.dataset.figures = places.length;
    root.dataset.drawn = places.filter(isDrawn).length;
    root.dataset.overflow = Math.max(0, root.scrollWidth - root.clientWidth);
  }

  const observer = new IntersectionObserver(
    function (entries) {
      for (const entry of entries) {
        if (entry.isIntersecting && !isDrawn(entry.target)) {
          observer.unobserve(entry.target);
          draw(entry.target);
        }
      }
    },
    { rootMargin: "400px" },
  );
  places.forEach((place) => observer.observe(place));

  for (const button of document.querySelectorAll("[data-scale]")) {
    button.addEventListener("click", function () {
      const key = button.dataset.scale;
      const axis = figures[key].layout.yaxis;
      button.textContent = `${axis.type === "log" ? "log" : "linear"} scale`;
      axis.type = axis.type === "log" ? "linear" : "log";
      draw(places.find((place) => place.dataset.figure === key));
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

  dark.addEventListener("change", redraw);
  addEventListener("resize", report);

  // Paper is white and cannot be unfolded.
  addEventListener("beforeprint", function () {
    root.dataset.theme = "light";
    document.querySelectorAll("details").forEach((details) => (details.open = true));
    // The page is not yet laid out for paper, so its width has to be told: A4 and Letter both hold this.
    places.forEach((place) => draw(place, { width: 670, height: 330 }));
  });
  addEventListener("afterprint", function () {
    delete root.dataset.theme;
    redraw();
  });

  report();
  root.dataset.ready = "yes";
})();
