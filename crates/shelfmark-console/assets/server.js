// Server: reads the metrics every two seconds and draws what changed.

import { read } from "./console.js";

const charts = document.getElementById("charts");
const EVERY = Number(charts.dataset.every);
const POINTS_MAX = 90;
const SVG = "http://www.w3.org/2000/svg";

/** Reads Prometheus' text: names to lists of labels and values. */
function parse(text) {
  const found = new Map();
  for (const line of text.split("\n")) {
    const match = /^([a-z_:]+)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (!match) continue;
    const labels = Object.fromEntries(
      [...(match[2] ?? "").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map((own) => [own[1], own[2]]),
    );
    const list = found.get(match[1]) ?? [];
    list.push({ labels, value: Number(match[3]) });
    found.set(match[1], list);
  }
  return found;
}

function total(metrics, name, wanted = () => true) {
  const list = metrics.get(name) ?? [];
  return list.filter((own) => wanted(own.labels)).reduce((sum, own) => sum + own.value, 0);
}

/** Returns the time below which a share of requests lies, from the growth of a histogram. */
function quantile(now, before, share, wanted) {
  const grown = new Map();
  for (const [metrics, sign] of [[now, 1], [before, -1]]) {
    for (const { labels, value } of metrics?.get("shelfmark_request_seconds_bucket") ?? []) {
      if (!wanted(labels)) continue;
      const limit = labels.le === "+Inf" ? Infinity : Number(labels.le);
      grown.set(limit, (grown.get(limit) ?? 0) + sign * value);
    }
  }
  const buckets = [...grown].sort((a, b) => a[0] - b[0]);
  const all = buckets.at(-1)?.[1] ?? 0;
  if (all <= 0) return null;
  let [low, below] = [0, 0];
  for (const [limit, count] of buckets) {
    if (count >= share * all) {
      if (limit === Infinity) return low;
      return low + ((limit - low) * (share * all - below)) / Math.max(1, count - below);
    }
    [low, below] = [limit, count];
  }
  return low;
}

function faces(metrics) {
  const list = metrics.get("shelfmark_requests_total") ?? [];
  return [...new Set(list.map((own) => own.labels.face))].sort();
}

// What each chart shows of two readings and the seconds between them.
const shown = {
  requests: (now, before, seconds) =>
    Object.fromEntries(
      faces(now).map((face) => {
        const count = (metrics) => total(metrics, "shelfmark_requests_total", (own) => own.face === face);
        return [face, (count(now) - count(before)) / seconds];
      }),
    ),
  latency: (now, before) => ({
    p50: 1000 * (quantile(now, before, 0.5, () => true) ?? NaN),
    p99: 1000 * (quantile(now, before, 0.99, () => true) ?? NaN),
  }),
  commits: (now, before, seconds) => rates(now, before, seconds, { commits: "shelfmark_commits_total", syncs: "shelfmark_syncs_total" }),
  refused: (now, before, seconds) => {
    const count = (metrics, status) => total(metrics, "shelfmark_requests_total", (own) => own.status === status);
    return {
      refused: (count(now, "refused") - count(before, "refused")) / seconds,
      failed: (count(now, "failed") - count(before, "failed")) / seconds,
    };
  },
  memory: (now) => ({ taken: total(now, "shelfmark_budget_taken_bytes"), "at most": total(now, "shelfmark_budget_bytes") }),
  tables: (now) => ({ "memory tables": total(now, "shelfmark_memory_table_bytes") }),
  disk: (now) => ({ "table files": total(now, "shelfmark_table_file_bytes"), "commit log": total(now, "shelfmark_log_bytes") }),
  work: (now, before, seconds) => rates(now, before, seconds / 60, { flushes: "shelfmark_flushes_total", compactions: "shelfmark_compactions_total" }),
};

function rates(now, before, time, names) {
  return Object.fromEntries(
    Object.entries(names).map(([word, name]) => [word, (total(now, name) - total(before, name)) / time]),
  );
}

function figure(value, isBytes) {
  if (!Number.isFinite(value)) return "–";
  const units = isBytes ? ["B", "kB", "MB", "GB", "TB"] : ["", "k", "M", "G"];
  let unit = 0;
  while (Math.abs(value) >= 1000 && unit + 1 < units.length) {
    value /= 1000;
    unit += 1;
  }
  const digits = value !== 0 && Math.abs(value) < 100 ? 1 : 0;
  return `${value.toFixed(digits)} ${units[unit]}`.trim();
}

const series = new Map();

function element(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function draw(id) {
  const place = charts.querySelector(`[data-chart="${id}"]`);
  const lines = series.get(id);
  const isBytes = ["memory", "tables", "disk"].includes(id);
  const values = [...lines.values()].flat().filter(Number.isFinite);
  const most = Math.max(1e-9, ...values);
  const svg = place.querySelector("svg");
  svg.replaceChildren(element("line", { x1: 0, y1: 110, x2: 400, y2: 110, class: "axis" }));
  const top = element("text", { x: 0, y: 10, class: "axis-text" });
  top.textContent = values.length ? figure(most, isBytes) : "";
  svg.append(top);
  const words = [];
  [...lines].forEach(([word, points], number) => {
    const place = (value, at) =>
      `${(400 * (at + POINTS_MAX - points.length)) / (POINTS_MAX - 1)},${110 - (95 * value) / most}`;
    const drawn = points.map((value, at) => (Number.isFinite(value) ? place(value, at) : null)).filter(Boolean);
    svg.append(element("polyline", { points: drawn.join(" "), class: `line line-${number}` }));
    const name = document.createElement("span");
    name.className = `name name-${number}`;
    name.textContent = `${word} ${figure(points.at(-1), isBytes)}`;
    words.push(name);
  });
  place.querySelector(".legend").replaceChildren(...words);
}

function keep(id, values) {
  const lines = series.get(id) ?? new Map();
  for (const [word, value] of Object.entries(values)) {
    const points = lines.get(word) ?? [];
    points.push(value);
    if (points.length > POINTS_MAX) points.shift();
    lines.set(word, points);
  }
  series.set(id, lines);
}

function operations(now, before, seconds) {
  const rows = new Map();
  for (const { labels, value } of now.get("shelfmark_requests_total") ?? []) {
    const key = `${labels.face}\n${labels.operation}`;
    const row = rows.get(key) ?? { face: labels.face, operation: labels.operation, count: 0 };
    row.count += value;
    rows.set(key, row);
  }
  const time = (value) => (value === null ? "–" : `${(value * 1000).toFixed(2)} ms`);
  const made = [...rows.values()]
    .sort((a, b) => b.count - a.count)
    .map((row) => {
      const own = (labels) => labels.face === row.face && labels.operation === row.operation;
      const grown = before ? row.count - total(before, "shelfmark_requests_total", own) : 0;
      const cells = [
        row.face, row.operation, row.count.toLocaleString("en"),
        before ? (grown / seconds).toFixed(1) : "–",
        time(quantile(now, null, 0.5, own)), time(quantile(now, null, 0.99, own)),
      ];
      const line = document.createElement("tr");
      cells.forEach((text, at) => {
        const cell = document.createElement("td");
        cell.textContent = text;
        if (at > 1) cell.className = "number";
        line.append(cell);
      });
      return line;
    });
  if (made.length) document.getElementById("operations").replaceChildren(...made);
}

let last = null;
async function tick() {
  if (document.hidden) return;
  try {
    const now = parse(await read(await fetch("/metrics")));
    const at = performance.now();
    if (last) {
      const seconds = (at - last.at) / 1000;
      for (const [id, values] of Object.entries(shown)) {
        keep(id, values(now, last.metrics, seconds));
        draw(id);
      }
    }
    operations(now, last?.metrics, last ? (at - last.at) / 1000 : 1);
    last = { metrics: now, at };
    charts.classList.remove("stale");
  } catch {
    charts.classList.add("stale");
  }
}
tick();
setInterval(tick, EVERY);

// What else the server tells of itself, through the operations for whoever runs it.

function cell(value) {
  if (Array.isArray(value) && value.length === 0) return "";
  return typeof value === "object" && value !== null ? JSON.stringify(value) : String(value ?? "");
}

function table(title, rows) {
  const head = document.createElement("h3");
  head.textContent = title;
  if (rows.length === 0) {
    const none = document.createElement("p");
    none.className = "soft";
    none.textContent = "None.";
    return [head, none];
  }
  // A column without a value says nothing.
  const all = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const names = all.filter((name) => rows.some((row) => cell(row[name]) !== ""));
  const line = (kind, texts) => {
    const made = document.createElement("tr");
    for (const text of texts) {
      const part = document.createElement(kind);
      if (kind === "th") part.scope = "col";
      part.textContent = text;
      made.append(part);
    }
    return made;
  };
  const made = document.createElement("table");
  made.createTHead().append(line("th", names));
  made.createTBody().append(...rows.map((row) => line("td", names.map((name) => cell(row[name])))));
  const frame = document.createElement("div");
  frame.className = "scroll";
  frame.tabIndex = 0;
  frame.setAttribute("role", "region");
  frame.setAttribute("aria-label", title);
  frame.append(made);
  return [head, frame];
}

async function ask(name) {
  const answer = await fetch(`/api/v1/${name}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{}",
  });
  if (answer.status === 404) return null;
  return read(answer);
}

function listed(answer) {
  if (Array.isArray(answer)) return answer;
  const list = Object.values(answer).find(Array.isArray);
  return list ?? Object.entries(answer).map(([name, value]) => ({ name, value }));
}

async function tell() {
  const place = document.getElementById("told-parts");
  const parts = [];
  for (const [name, title] of [["connections", "Connections"], ["slow", "Slow and refused requests"], ["config", "Settings"]]) {
    try {
      const answer = await ask(name);
      if (answer) parts.push(...table(title, listed(answer)));
    } catch (error) {
      const told = document.createElement("p");
      told.className = "fault";
      told.textContent = `${title}: ${error.message}`;
      parts.push(told);
    }
  }
  if (parts.length === 0) {
    const none = document.createElement("p");
    none.className = "soft";
    none.textContent = "The server tells none of them.";
    parts.push(none);
  }
  place.replaceChildren(...parts);
}
tell();
