// The two charts of the Now screen. uPlot draws them; colours are those of the
// page, so that they turn with the theme.
import { html, useEffect, useRef, useState } from "./vendor/preact.js";
import { now } from "./feed.js";
import { t, lang } from "./words.js";
import { millis, rate } from "./show.js";

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();

function faint(hex, share) {
  const n = parseInt(hex.slice(1), 16);
  return `rgba(${n >> 16}, ${(n >> 8) & 255}, ${n & 255}, ${share})`;
}

function axes(values, size, splits) {
  const ink = colour("soft"), line = colour("line");
  const font = "12px " + getComputedStyle(document.body).fontFamily;
  return [
    { stroke: ink, font, grid: { show: false }, ticks: { show: false }, space: 70, gap: 6, size: 26, incrs: [15, 60, 300],
      values: (u, list, axis, space, step) => list.map((s) => new Date(s * 1000).toLocaleTimeString(lang(), { hour: "2-digit", minute: "2-digit", second: step < 60 ? "2-digit" : undefined, hour12: false })) },
    { stroke: ink, font, grid: { stroke: line, width: 1 }, ticks: { show: false }, gap: 6, size, values, ...(splits && { splits }) },
  ];
}

// marks draws a dashed line where a breaker opened or closed.
function marks(transitions) {
  return (u) => {
    const ctx = u.ctx, ratio = devicePixelRatio || 1;
    ctx.save();
    ctx.lineWidth = ratio;
    ctx.setLineDash([3 * ratio, 4 * ratio]);
    for (const turn of transitions()) {
      const opened = turn.to === "open" || turn.to === "forced-open";
      if (!opened && turn.to !== "closed") continue;
      const x = u.valToPos(Date.parse(turn.time) / 1000, "x", true);
      if (x < u.bbox.left || x > u.bbox.left + u.bbox.width) continue;
      ctx.strokeStyle = colour(opened ? "failed" : "primary");
      ctx.beginPath();
      ctx.moveTo(x, u.bbox.top);
      ctx.lineTo(x, u.bbox.top + u.bbox.height);
      ctx.stroke();
    }
    ctx.restore();
  };
}

const stacked = ["primary", "backup", "local", "failed"];

// range is at least a minute, however short the history is.
const range = (minutes) => (u, min, max) => {
  const end = max || now() / 1000;
  return [Math.max(end - minutes * 60, Math.min(min || end, end - 60)), end];
};

function trafficOptions(minutes, transitions, onPoint) {
  const series = [{}];
  for (const tier of stacked) series.push({ width: 0, fill: tier === "primary" ? faint(colour(tier), 0.7) : undefined, points: { show: false } });
  return {
    legend: { show: false },
    cursor: { y: false, points: { show: false }, sync: { key: "now" } },
    scales: { x: { range: range(minutes) }, y: { range: (u, min, max) => [0, Math.max(1, max * 1.15)] } },
    axes: axes((u, list) => list.map((v) => rate(v)), 44),
    series,
    bands: stacked.slice(1).map((tier, i) => ({ series: [i + 2, i + 1], fill: faint(colour(tier), 0.7) })),
    hooks: { draw: [marks(transitions)], setCursor: [(u) => onPoint(u.cursor.idx)] },
  };
}

function trafficData(seconds) {
  const data = [[], [], [], [], []];
  for (const s of seconds) {
    data[0].push(s.t);
    let sum = 0;
    stacked.forEach((tier, i) => { sum += s[tier]; data[i + 1].push(sum); });
  }
  return data;
}

const times = ["p99", "p50", "first50"];
const timeColours = { p99: "failed", p50: "accent", first50: "primary" };

// decades are the round numbers of a logarithmic axis.
function decades(u, axis, min, max) {
  const list = [];
  for (let n = Math.round(Math.log10(min)); n <= Math.round(Math.log10(max)); n++) list.push(10 ** n);
  return list;
}

function timesOptions(minutes, transitions, onPoint) {
  return {
    legend: { show: false },
    cursor: { y: false, points: { show: false }, sync: { key: "now" } },
    scales: { x: { range: range(minutes) }, y: { distr: 3, range: (u, min, max) => (min ? [10 ** Math.floor(Math.log10(min)), 10 ** Math.ceil(Math.log10(Math.max(max, min * 2)))] : [1, 1000]) } },
    axes: axes((u, list) => list.map((v) => millis(v).replace(/\.0+ /, " ")), 58, decades),
    series: [{}, ...times.map((name) => ({ stroke: colour(timeColours[name]), width: name === "p99" ? 1.25 : 1.75, points: { show: false }, spanGaps: false, dash: name === "first50" ? [2, 3] : undefined }))],
    hooks: { draw: [marks(transitions)], setCursor: [(u) => onPoint(u.cursor.idx)] },
  };
}

const timesData = (seconds) => [seconds.map((s) => s.t), ...times.map((name) => seconds.map((s) => s[name]))];

export function Chart({ kind, seconds, transitions, minutes, theme }) {
  const place = useRef(null), plot = useRef(null), turns = useRef(transitions);
  const [at, setAt] = useState(null);
  turns.current = transitions;
  const height = 220;
  useEffect(() => {
    const box = place.current;
    const make = kind === "traffic" ? trafficOptions : timesOptions;
    const options = make(minutes, () => turns.current, (i) => setAt(i ?? null));
    plot.current = new window.uPlot({ ...options, width: box.clientWidth, height, padding: [8, 18, 0, 0] }, kind === "traffic" ? trafficData(seconds) : timesData(seconds), box);
    const eye = new ResizeObserver(() => plot.current && plot.current.setSize({ width: box.clientWidth, height }));
    eye.observe(box);
    return () => { eye.disconnect(); plot.current.destroy(); plot.current = null; };
  }, [kind, theme, lang(), minutes]);
  useEffect(() => {
    if (plot.current) plot.current.setData(kind === "traffic" ? trafficData(seconds) : timesData(seconds));
  }, [seconds, transitions]);
  const point = seconds[at === null ? seconds.length - 1 : at];
  const names = kind === "traffic" ? stacked : times;
  return html`<figure class="chart">
    <figcaption>
      <h2>${t("chart." + kind)}</h2>
      <ul class="legend">${names.map((name) => html`<li key=${name}><i class=${"dot tone-" + (kind === "traffic" ? name : timeColours[name])}></i>${t((kind === "traffic" ? "tier." : "series.") + name)}
        <b>${point ? (kind === "traffic" ? rate(point[name]) : millis(point[name])) : ""}</b></li>`)}</ul>
    </figcaption>
    <div class="plot" ref=${place} role="img" aria-label=${t("chart." + kind + ".label", { n: minutes })}></div>
  </figure>`;
}
