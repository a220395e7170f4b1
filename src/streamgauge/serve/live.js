// Behind launch/live_plot.js, in one file with it.
const root = document.documentElement;
const home = document.querySelector("[data-live]");
const mebibytes = (n) => `${whole(n / 1048576)} MiB`;
const LINES = {
  rates: { columns: [[1, "line-1"], [2, "line-2"]], log: false },
  latencies: { columns: [[3, "line-1"], [4, "line-2"], [5, "line-4"]], log: true },
  cores: { columns: [[6, "line-3"], [7, "line-5"]], log: false },
};
const SECONDS = 900;
let rows = [], told = null;

function facts() {
  const now = rows.length ? rows[rows.length - 1] : null, { sent, received, done, planned } = told.counts;
  const greatest = rows.reduce((most, row) => (row[5] !== null && (most === null || row[5] > most) ? row[5] : most), null);
  const taken = received || done;
  const waiting = sent > 0 && received > 0 && sent >= received && !told.words ? whole(sent - received) : null;
  const shown = [
    [sent || !taken ? whole(sent) : whole(taken), sent || !taken ? (planned ? `sent of ${whole(planned)}` : "sent") : "messages so far"],
    sent || !taken ? [whole(taken), "received"] : [told.share === null ? "–" : `${Math.round(told.share * 100)}%`, "of all turns"],
    [now ? whole(now[2] || now[1]) : "–", "messages per second, now"],
    [now ? `${digits(now[3])} ms` : "–", "p50 now"],
    [now ? `${digits(now[4])} ms` : "–", "p99 now"],
    waiting !== null ? [waiting, "sent, not received yet"] : [greatest === null ? "–" : `${digits(greatest)} ms`, "max so far"],
  ];
  for (const [count, name] of [[told.counts.failed, "failed so far"], [told.counts.damaged, "damaged so far"]])
    if (count !== null && count !== undefined) shown.push([whole(count), name]);
  at("facts").replaceChildren(...shown.map(([value, name]) => {
    const tile = element("div", undefined, { class: "tile" });
    tile.append(element("dt", name), element("dd", value, { class: "count" }));
    return tile;
  }));
}

function resources() {
  const table = element("table"), head = element("thead"), body = element("tbody"), top = element("tr");
  const box = element("div", undefined, { class: "scroll", tabindex: "0", role: "region", "aria-label": "CPU and memory of every process" });
  for (const name of ["process", "kind", "CPU, cores", "memory"])
    top.append(element("th", name, { scope: "col", class: name === "kind" ? "text" : "" }));
  head.append(top);
  for (const each of told.resources) {
    const line = element("tr"), of = each.kind === "machine" && told.machine_cores ? ` of ${told.machine_cores}` : "";
    line.append(element("th", each.name, { scope: "row" }));
    line.append(element("td", each.kind, { class: "state" }));
    for (const cell of [`${each.cores.toFixed(2)}${of}`, mebibytes(each.rss_bytes)]) line.append(element("td", cell));
    body.append(line);
  }
  table.append(head, body);
  box.append(table);
  const shown = told.resources.length ? box : element("p", "No figures yet.", { class: "note" });
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
  at("stage").textContent = told.is_over ? told.reason || "The run has ended." : parts.join(" · ");
  const pill = at("state").firstElementChild;
  pill.textContent = told.is_over ? told.state : "running";
  pill.className = `pill ${told.is_over ? (told.state === "ok" ? "good" : "warn") : "plain"}`;
  const times = told.times_are ? `Time of ${told.times_are}, ms` : "Latency from the intended send, ms";
  at("latencies-title").textContent = times;
}

function show() {
  if (!told) return;
  words();
  if (!told.counts) return; // it was gone before the first look
  progress();
  facts();
  for (const [place, lines] of Object.entries(LINES)) plot(place, rows, lines, told.marks);
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
