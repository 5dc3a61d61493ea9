// What is wrong, what was done about it, what to do: in words, worst first.
import { feed, now } from "./feed.js";
import { t } from "./words.js";
import { percent, recent, since, until, word } from "./show.js";

const justNow = 20000; // ms
const weight = { failed: 3, backup: 2, local: 1, primary: 0 };

// causeOf is why a breaker is in its state. A probe closes a breaker when it
// succeeds and opens it again when it fails.
export function causeOf(scope) {
  if (scope.cause === "probe" && scope.state === "open") return t("cause.open.probe");
  return word("cause", scope.cause || "");
}

// worst is the scope that an upstream's tile speaks of.
export function worst(upstream) {
  const order = ["forced-open", "open", "half-open", "forced-closed", "closed"];
  const list = [...upstream.scopes].sort((a, b) => order.indexOf(a.state) - order.indexOf(b.state) || b.run - a.run || b.waiting - a.waiting || b.samples - a.samples);
  return list[0] || { scope: "", state: upstream.state, run: 0, need: 0, waiting: 0, samples: 0 };
}

// whoAnswers says who answers at the moment, the busiest tier first.
function whoAnswers(sum) {
  return ["primary", "backup", "local", "failed"].filter((k) => sum[k] > 0).sort((a, b) => sum[b] - sum[a])
    .map((k) => t("tier." + k) + " " + percent(sum[k] / sum.calls)).join(", ");
}

function aboutBreaker(u, sum) {
  const scope = worst(u), name = u.name;
  const did = sum.calls ? t("out.did", { by: whoAnswers(sum) }) : t("out.did.idle");
  const held = scope.next ? t("held.todo", { span: until(scope.next) }) : t("held.todo.ever");
  switch (scope.state) {
    case "open":
      return { tone: "failed", title: t("out.why", { name, cause: causeOf(scope) }), did, todo: scope.next ? t("out.todo", { span: until(scope.next) }) : t("out.todo.live") };
    case "half-open":
      return { tone: "backup", title: t("trying", { name }), did, todo: t("out.todo.live") };
    case "forced-open":
      return { tone: "failed", title: t("held.open", { name }), did, todo: held, to: "#/drill", link: t("held.look") };
    case "forced-closed":
      return { tone: "local", title: t("held.closed", { name }), did: "", todo: held, to: "#/drill", link: t("held.look") };
  }
  return null;
}

function aboutKeys(u) {
  if (!u.parked.length) return null;
  const keys = Math.max(u.keys, 1);
  const every = u.parked.some((p) => p.key < 0);
  const n = every ? keys : new Set(u.parked.map((p) => p.key)).size;
  const p = u.parked[0];
  const kind = ["rate", "quota", "auth"].find((k) => p.why.includes(k)) || "other";
  return {
    tone: kind === "quota" || kind === "auth" ? "failed" : "backup", title: n >= keys ? t("parked.all", { name: u.name }) : t("parked", { name: u.name, n, keys }),
    did: t("parked.did"), todo: t("parked." + kind, { span: until(p.until) }), to: "#/upstreams", link: t("nav.upstreams"),
  };
}

export function verdicts() {
  const list = [], sum = recent(feed.seconds, 10), fresh = recent(feed.seconds, 3), minute = recent(feed.seconds, 60);
  if (minute.failed > 0) {
    list.push({ tone: "failed", title: t("unanswered", { n: minute.failed }), did: t("unanswered.did"), todo: t("unanswered.todo"), to: "#/calls?tier=none", link: t("unanswered.look") });
  }
  for (const u of feed.state.upstreams) {
    for (const about of [aboutBreaker(u, fresh), aboutKeys(u)]) if (about) list.push(about);
  }
  list.sort((a, b) => weight[b.tone] - weight[a.tone]);
  if (!list.length) {
    const back = feed.transitions.find((x) => x.to === "closed" && now() - Date.parse(x.time) < justNow);
    const slid = sum.calls ? (sum.calls - sum.primary) / sum.calls : 0;
    if (back) list.push({ tone: "primary", title: t("back", { name: back.upstream }), did: t("back.did", { span: since(back.time) }), todo: t("calm.todo") });
    else if (slid > 0.01) list.push({ tone: "backup", title: t("slid"), did: t("slid.did", { share: percent(slid) }), todo: t("calm.todo") });
    else list.push({ tone: "primary", title: t("calm"), did: sum.calls ? t("calm.did") : t(minute.calls ? "out.did.idle" : "calm.quiet"), todo: t("calm.todo") });
  }
  return list;
}
