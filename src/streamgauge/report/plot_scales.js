// Scales: where a value stands, in pixels, and which ticks an axis has.

const TICK_ROOM = { x: 84, y: 46 };
const PADDING = 0.04;
const PREFIXES = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];

const written = (value, options) => value.toLocaleString("en", options);

/** A number as its series or axis says; without a word of theirs, as short as it can be. */
function numberText(value, told) {
  if (value === null || value === undefined) return "–";
  if (!told) return Math.abs(value) >= 1e4 ? scaledText(value, 4) : written(value, { maximumSignificantDigits: 6 });
  const { digits, count } = told;
  if (digits === "scaled") return scaledText(value, count);
  if (digits === "figures") return written(value, { maximumSignificantDigits: count });
  const least = digits === "exactly" ? count : 0;
  return written(value, { minimumFractionDigits: least, maximumFractionDigits: count });
}

function scaledText(value, count) {
  const [unit, letter] = PREFIXES.find(([unit]) => Math.abs(value) >= unit) || [1, ""];
  return written(value / unit, { maximumSignificantDigits: count }) + letter;
}

const withUnit = (value, told) => `${numberText(value, told)}${told && told.unit ? ` ${told.unit}` : ""}`;

/** The least of 1, 2, 5, 10, 20 … that gives no more than `count` steps over the span. */
function roundStep(span, count) {
  const least = span / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(least));
  return power * [1, 2, 5, 10].find((factor) => factor * power >= least * 0.999);
}

function evenTicks(low, high, count) {
  const step = roundStep(high - low, count);
  const ticks = [];
  for (let number = Math.ceil(low / step - 1e-9); number * step <= high * (1 + 1e-12) + step * 1e-9; number++) {
    ticks.push(Number((number * step).toPrecision(12)));
  }
  return ticks;
}

/** Decades; over a narrow range 1, 2 and 5 of each; over a very narrow one even steps. */
function logTicks(low, high, count, byDecades) {
  const decades = Math.log10(high / low);
  if (decades < 0.8) return evenTicks(low, high, count);
  const factors = byDecades || decades * 3 > count ? [1] : [1, 2, 5];
  const apart = Math.max(1, Math.ceil(decades / count));
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) {
    if (power % apart) continue;
    for (const factor of factors) {
      const place = factor * 10 ** power;
      if (place >= low * 0.999 && place <= high * 1.001) ticks.push(Number(place.toPrecision(3)));
    }
  }
  return ticks;
}

/** From where to where an axis goes that shows all these values. */
function rangeOf(axis, values, isLog) {
  const known = values.filter((value) => Number.isFinite(value) && (!isLog || value > 0));
  if (!known.length) return isLog ? [1, 10] : [0, 1];
  let low = known.reduce((least, value) => Math.min(least, value));
  let high = known.reduce((most, value) => Math.max(most, value));
  if (isLog) {
    const wide = Math.max((high / low) ** PADDING, low === high ? 1.5 : 1.02);
    return [low / wide, high * wide];
  }
  if (axis.fromZero) low = Math.min(0, low);
  if (low === high) return low === 0 ? [0, 1] : [Math.min(low * 0.5, low * 1.5), Math.max(low * 0.5, low * 1.5)];
  const room = (high - low) * PADDING;
  return [axis.fromZero && low === 0 ? 0 : low - room, high + room];
}

/** `start`, `end`: in pixels. `range`: what to show when that is not all. */
function scaleOf(axis, values, start, end, range) {
  const isLog = axis.scale === "log";
  const [low, high] = range || rangeOf(axis, values, isLog);
  const along = isLog ? Math.log10 : (value) => value;
  const share = (end - start) / (along(high) - along(low) || 1);
  const count = Math.max(2, Math.floor(Math.abs(end - start) / (end < start ? TICK_ROOM.y : TICK_ROOM.x)));
  const within = ({ place }) => place >= low && place <= high;
  const own = () =>
    (isLog ? logTicks(low, high, count, axis.byDecades) : evenTicks(low, high, count)).map((place) => ({
      place,
      text: numberText(place, axis.told),
    }));
  return {
    range: [low, high],
    at: (value) => (isLog && value <= 0 ? null : start + (along(value) - along(low)) * share),
    valueAt: (pixel) => {
      const found = along(low) + (pixel - start) / share;
      return isLog ? 10 ** found : found;
    },
    ticks: axis.ticks ? axis.ticks.map(([place, text]) => ({ place, text })).filter(within) : own(),
    textOf: (value) => numberText(value, axis.told),
  };
}

/** Names have places of their own, side by side. */
function namesScale(names, start, end) {
  const room = (end - start) / Math.max(1, names.length);
  const places = new Map(names.map((name, number) => [name, start + (number + 0.5) * room]));
  return {
    names,
    room: Math.abs(room),
    at: (name) => places.get(name) ?? null,
    ticks: names.map((name) => ({ place: name, text: String(name) })),
    textOf: String,
  };
}
