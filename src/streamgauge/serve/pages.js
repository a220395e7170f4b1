"use strict";
/* The pages work without this; it only saves waiting. */
const at = (id) => document.getElementById(id);
const root = document.documentElement;

function ticks(form) {
  const button = form.querySelector("button[type=submit]");
  const look = () => {
    const count = form.querySelectorAll("input[name=tick]:checked").length;
    button.disabled = count < 2;
    button.textContent = count < 2 ? "Compare selected runs" : `Compare ${count} runs`;
  };
  form.addEventListener("change", look);
  addEventListener("pageshow", look); // going back leaves the ticks
  look();
}

function listed(place, faults, words) {
  const made = document.createElement(faults.length ? "ul" : "p");
  made.className = faults.length ? "reasons bad" : "note good-note";
  if (!faults.length) made.textContent = words;
  for (const fault of faults) {
    const item = document.createElement("li");
    item.textContent = fault;
    made.append(item);
  }
  place.replaceChildren(made);
}

function checked(form) {
  const area = at("workload"), csrf = form.elements.csrf.value;
  let waiting = 0, asked = 0;
  async function check() {
    const number = ++asked;
    try {
      const answer = await fetch("/start/check", {
        method: "POST",
        headers: { "X-CSRF-Token": csrf, Accept: "application/json" },
        body: new URLSearchParams({ workload: area.value }),
        signal: AbortSignal.timeout(10000),
      });
      if (!answer.ok || number !== asked) return;
      const told = await answer.json();
      area.setAttribute("aria-invalid", String(told.faults.length > 0));
      listed(at("faults"), told.faults, "This workload is valid.");
    } catch {
      // The button checks it, too.
    }
  }
  area.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(check, 400);
  });
  const of = at("of");
  if (of) of.addEventListener("change", () => of.form.requestSubmit());
}

function followed(place) {
  const number = place.dataset.child, hadName = Boolean(at("onward"));
  async function look() {
    let told;
    try {
      const asked = await fetch(`/started/${number}/state`, {
        headers: { Accept: "application/json" },
        signal: AbortSignal.timeout(5000),
      });
      told = await asked.json();
    } catch {
      setTimeout(look, 3000);
      return;
    }
    const log = at("output"), isAtEnd = log.scrollTop + log.clientHeight >= log.scrollHeight - 8;
    log.textContent = told.output || "nothing yet";
    if (isAtEnd) log.scrollTop = log.scrollHeight;
    if (told.run && told.is_running && !hadName) {
      location.replace(`/runs/${encodeURIComponent(told.run)}/live`);
    } else if (told.is_running) {
      setTimeout(look, 1000);
    } else {
      location.reload();
    }
  }
  const isRunning = place.querySelector(".pill").textContent.match(/running|stopping/);
  if (isRunning) setTimeout(look, 300);
}

const chosen = document.querySelector("form.choose"), start = at("start"), child = document.querySelector("[data-child]");
if (chosen) ticks(chosen);
if (start) checked(start);
if (child) followed(child);
root.dataset.ready = "yes";
