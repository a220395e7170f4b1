"use strict";
// Subscribes with Lightstreamer's own web client and shows what comes; nothing here knows the protocol.
(async () => {
  const el = (id) => document.getElementById(id);
  const MOST_ROWS = 200;
  const facts = document.documentElement.dataset;
  const offered = await (await fetch("demo.json")).json();
  let client = null, subscription = null, rows = new Map(), updates = 0, lost = 0;

  for (const name of Object.keys(offered.connections)) el("connection").add(new Option(name));
  el("credentials").hidden = !offered.guarded;
  el("connection").addEventListener("change", offer);
  el("wanted").addEventListener("submit", (event) => { event.preventDefault(); subscribe(); });
  el("stop").addEventListener("click", stop);
  offer();
  facts.ready = "yes";

  // Fill in what the chosen connection has.
  function offer() {
    const chosen = offered.connections[el("connection").value];
    if (!chosen) { note("No connection is enabled in the gateway's configuration."); return; }
    el("hints").replaceChildren(...chosen.items.map((item) => new Option(item)));
    el("items").value = chosen.items[0].includes("…") ? "" : chosen.items[0];
    el("items").placeholder = chosen.items.join("  or  ");
    el("fields").value = chosen.fields.join(" ");
    el("mode").value = chosen.mode;
  }

  function subscribe() {
    stop();
    const words = (id) => el(id).value.trim().split(/\s+/);
    const fields = words("fields"), mode = el("mode").value;
    rows = new Map(); updates = lost = 0;
    el("rows").replaceChildren();
    el("head").replaceChildren(...["item", ...fields].map((name) => cell("th", name)));
    note("");
    try {
      connect();
      subscription = new lightstreamer.Subscription(mode, words("items"), fields);
      subscription.setDataAdapter(el("connection").value);
      if (mode !== "RAW") subscription.setRequestedSnapshot("yes");
      if (el("frequency").value.trim()) subscription.setRequestedMaxFrequency(el("frequency").value.trim());
      subscription.addListener({
        onSubscription: () => { facts.subscribed = "yes"; el("stop").disabled = false; },
        onUnsubscription: () => { facts.subscribed = "no"; el("stop").disabled = true; },
        onSubscriptionError: (code, message) => note(`Subscription refused (${code}): ${message}`),
        onItemLostUpdates: (item, position, count) => { lost += count; count_up(); },
        onClearSnapshot: (item) => clear(item),
        onItemUpdate: (update) => show(update, fields, mode),
      });
      client.subscribe(subscription);
    } catch (error) {
      note(error.message);
    }
  }

  function connect() {
    if (client) client.disconnect();
    client = new lightstreamer.LightstreamerClient(location.origin, offered.adapterSet);
    if (offered.guarded) {
      client.connectionDetails.setUser(el("user").value);
      client.connectionDetails.setPassword(el("password").value);
    }
    client.addListener({
      onStatusChange: (status) => {
        facts.status = status;
        el("status").textContent = status.toLowerCase().replace(/[:_]/g, " ");
        el("status").dataset.state = status.startsWith("CONNECTED") ? "on" : "broken";
      },
      onServerError: (code, message) => note(`The gateway refuses the session (${code}): ${message}`),
    });
    client.connect();
  }

  function stop() {
    if (subscription && client && subscription.isActive()) client.unsubscribe(subscription);
    subscription = null;
  }

  // One row an item, or a key of it; DISTINCT and RAW events come one under the other.
  function show(update, fields, mode) {
    updates += 1;
    const item = update.getItemName();
    const key = mode === "COMMAND" ? `${item} ${update.getValue("key")}` : mode === "MERGE" ? item : `${updates}`;
    let row = rows.get(key);
    if (mode === "COMMAND" && update.getValue("command") === "DELETE") {
      if (row) { row.remove(); rows.delete(key); }
    } else {
      if (!row) {
        row = document.createElement("tr");
        row.dataset.item = item;
        row.append(cell("td", item), ...fields.map(() => cell("td", "")));
        rows.set(key, row);
        el("rows").prepend(row);
        if (rows.size > MOST_ROWS) { const [old] = rows.keys(); rows.get(old).remove(); rows.delete(old); }
      }
      fields.forEach((field, at) => fill(row.cells[at + 1], update.getValue(field), update.isValueChanged(field)));
    }
    count_up();
  }

  function fill(td, value, changed) {
    td.classList.toggle("null", value === null);
    td.textContent = value === null ? "null" : value;
    td.title = td.textContent;
    if (!changed) return;
    td.classList.remove("changed");
    void td.offsetWidth; // Starts the animation anew.
    td.classList.add("changed");
  }

  function clear(item) {
    for (const [key, row] of rows) if (row.dataset.item === item) { row.remove(); rows.delete(key); }
  }

  function count_up() {
    facts.updates = updates;
    el("counts").textContent = `${updates} update${updates === 1 ? "" : "s"}` + (lost ? `, ${lost} lost` : "");
  }

  function note(text) {
    facts.note = text;
    el("note").hidden = !text;
    el("note").textContent = text;
  }

  function cell(tag, text) {
    const made = document.createElement(tag);
    made.textContent = text;
    return made;
  }
})();
