// The official Node client: orders come as lines of JSON, what its listeners are told goes out the same way.
const { LightstreamerClient, Subscription } = require("lightstreamer-client-node");

const [address, adapterSet, options] = [process.argv[2], process.argv[3], JSON.parse(process.argv[4])];
const tell = (...note) => process.stdout.write(JSON.stringify(note) + "\n");
const client = new LightstreamerClient(address, adapterSet);
const subscriptions = {};

if (options.transport) client.connectionOptions.setForcedTransport(options.transport);
if (options.user) client.connectionDetails.setUser(options.user);
if (options.password) client.connectionDetails.setPassword(options.password);
client.addListener({
  onStatusChange: (status) => tell("", "status", status),
  onServerError: (code, message) => tell("", "server error", code, message),
});
client.connect();

function subscribe({ name, mode, items, fields, options }) {
  const subscription = new Subscription(mode, items, fields);
  for (const [key, value] of Object.entries(options)) subscription["setRequested" + key](value);
  subscription.addListener({
    onSubscription: () => tell(name, "subscribed"),
    onUnsubscription: () => tell(name, "unsubscribed"),
    onSubscriptionError: (code, message) => tell(name, "refused", code, message),
    onEndOfSnapshot: (item) => tell(name, "end of snapshot", item),
    onClearSnapshot: (item) => tell(name, "cleared", item),
    onItemLostUpdates: (item, position, lost) => tell(name, "lost", item, lost),
    onRealMaxFrequency: (frequency) => tell(name, "frequency", frequency),
    onItemUpdate: (update) =>
      tell(name, "update", update.getItemName(), update.isSnapshot(), fields.map((field) => update.getValue(field))),
  });
  subscriptions[name] = subscription;
  client.subscribe(subscription);
}

const orders = {
  subscribe,
  unsubscribe: ({ name }) => client.unsubscribe(subscriptions[name]),
  frequency: ({ name, value }) => subscriptions[name].setRequestedMaxFrequency(value),
  disconnect: () => {
    client.disconnect();
    setTimeout(() => process.exit(0), 100);
  },
};
let rest = "";
process.stdin.on("data", (data) => {
  const lines = (rest + data).split("\n");
  rest = lines.pop();
  for (const line of lines) {
    const order = JSON.parse(line);
    orders[order.do](order);
  }
});
process.stdin.on("end", () => process.exit(0));
