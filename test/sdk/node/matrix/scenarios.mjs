// What every SDK has to see, each scenario once. A caller of callers/ knows how
// its SDK is asked; nothing here knows an SDK.
import assert from "node:assert/strict";

import { conversation } from "./conversation.mjs";
import { forms, route, templateText } from "./fixture.mjs";
import { watched } from "./traffic.mjs";

// Which upstreams a scenario meets: all, or those of another form than the
// caller's. For a chat, an upstream that serves Responses is a chat upstream.
const all = (form) => forms.filter((at) => at !== "responses" || form === "responses");
const foreign = (form) => all(form).filter((at) => at !== form);

// reached lists the upstreams that a caller is tried with in a scenario.
export const reached = ({ form, cannot = [] }, { name, upstreams }) => (cannot.includes(name) ? [] : upstreams(form));

// Each scenario: name, what it shows, the forms of upstream it meets, and run,
// which gets {caller, home, at, prompt, fixture}: the caller of an SDK, the form
// it speaks, and the form of the upstream that this run is about.
export const scenarios = [
  {
    name: "chat",
    shows: "a plain answer: the model's own words, a clean end, the tokens counted",
    upstreams: all,
    async run({ caller, at, prompt, fixture }) {
      const got = await once(() => caller.ask(route.well(at), prompt));
      whole(got.value, await fixture.says(prompt));
      assert.ok(got.value.tokens > 0, "no tokens were counted");
      assert.equal(got.answer.headers.get("x-backstop-tier"), "primary");
    },
  },
  {
    name: "stream",
    shows: "the same as a stream: the text is equal, byte for byte",
    upstreams: all,
    async run({ caller, at, prompt, fixture }) {
      const got = await once(() => caller.stream(route.well(at), prompt));
      whole(got.value, await fixture.says(prompt));
      assert.ok(got.value.pieces > 10, `the text came in ${got.value.pieces} pieces`);
    },
  },
  {
    name: "tool call",
    shows: "a streamed tool call: its name, and arguments that parse",
    upstreams: all,
    async run({ caller, at, prompt }) {
      const got = await once(() => caller.call(route.tool(at), prompt));
      assert.equal(got.value.length, 1);
      assert.equal(got.value[0].name, "weather");
      assert.equal(typeof got.value[0].input.city, "string");
    },
  },
  {
    name: "tool loop",
    shows: "two turns: call, result, answer; the upstream gets the call and its result under one id",
    upstreams: all,
    run: ({ caller, at, ...more }) => loops(caller.loop.bind(caller), route.loop(at), more),
  },
  {
    name: "tool loop, stream",
    shows: "the same with both turns streamed",
    upstreams: all,
    run: ({ caller, at, ...more }) => loops(caller.loopStream.bind(caller), route.loop(at), more),
  },
  {
    name: "tool loop, moved",
    shows: "the primary is down for the first turn only: the call that a backup of another dialect made goes to the primary with its result; plain and streamed",
    upstreams: foreign,
    async run({ caller, home, at, prompt, fixture }) {
      for (const loop of [caller.loop, caller.loopStream]) {
        const got = await loops(loop.bind(caller), route.moved(home, at), { prompt: `${prompt}, ${loop.name}`, fixture });
        assert.deepEqual(got.answers.map((a) => a.headers.get("x-backstop-tier")), ["backup", "primary"]);
      }
    },
  },
  {
    name: "fenced JSON",
    shows: "structured output of an upstream that fences its JSON: parsed, one request, no second upstream",
    upstreams: all,
    async run({ caller, at, prompt }) {
      const got = await once(() => caller.parse(route.fenced(at), prompt));
      assert.deepEqual(Object.keys(got.value), ["answer"]);
      assert.equal(typeof got.value.answer, "string");
      assert.equal(got.answer.headers.get("x-backstop-attempts"), "1");
      assert.match(got.answer.headers.get("x-backstop-repaired") ?? "(none)", /fence/);
    },
  },
  {
    name: "fenced JSON, stream",
    shows: "the same as a stream: the fence is gone before the SDK reads it",
    upstreams: all,
    async run({ caller, at, prompt }) {
      const got = await once(() => caller.parseStream(route.fenced(at), prompt));
      assert.deepEqual(Object.keys(got.value), ["answer"]);
      assert.equal(typeof got.value.answer, "string");
    },
  },
  {
    name: "thinking",
    shows: "an upstream that thinks aloud before it answers: no thought gets into the text",
    upstreams: all,
    async run({ caller, at, prompt, fixture }) {
      for (const ask of [caller.ask, caller.stream]) {
        const got = await once(() => ask.call(caller, route.thinks(at), prompt));
        whole(got.value, await fixture.says(prompt));
      }
    },
  },
  {
    name: "dead primary",
    shows: "the primary answers 503: a backup of another dialect answers, in one request",
    upstreams: foreign,
    async run({ caller, home, at, prompt, fixture }) {
      const got = await once(() => caller.ask(route.dead(home, at), prompt));
      whole(got.value, await fixture.says(prompt));
      fromBackup(got, at, /^broken/);
    },
  },
  {
    name: "dead primary, stream",
    shows: "the same for a stream",
    upstreams: foreign,
    async run({ caller, home, at, prompt, fixture }) {
      const got = await once(() => caller.stream(route.dead(home, at), prompt));
      whole(got.value, await fixture.says(prompt));
      fromBackup(got, at, /^broken/);
    },
  },
  {
    name: "silent primary",
    shows: "the primary never says a word: the backup of another dialect takes over, for a stream",
    upstreams: foreign,
    async run({ caller, home, at, prompt, fixture }) {
      const got = await once(() => caller.stream(route.silent(home, at), prompt));
      whole(got.value, await fixture.says(prompt));
      fromBackup(got, at, /^hang/);
    },
  },
  {
    name: "cut, rescued",
    shows: "a stream of the primary breaks off: another upstream goes on, the text is whole and without a seam; both ways round",
    upstreams: all,
    async run({ caller, home, at, prompt, fixture }) {
      for (const name of [route.cut(home, at), route.cut(at, home)]) {
        const got = await once(() => caller.stream(name, prompt));
        whole(got.value, await fixture.says(prompt));
        assert.equal(got.answer.headers.get("x-backstop-tier"), "primary");
      }
    },
  },
  {
    name: "cut, an error",
    shows: "the same with `rescue: off`: an error of the SDK, never a short text that looks whole",
    upstreams: all,
    async run({ caller, at, prompt }) {
      const got = await watched(() => caller.stream(route.broken(at), prompt));
      assert.ok(got.error, `no error; the SDK believes ${JSON.stringify(got.value)}`);
      assert.match(caller.broke(got.error, "stream_incomplete") ?? `not the SDK's error: ${described(got.error)}`, /primary .*: garbled cut/);
      assert.equal(got.answers.length, 1);
    },
  },
  {
    name: "keep-alives",
    shows: "signs of life of the gateway, before the first token and while a stream is taken over: the SDK does not see them",
    upstreams: all,
    async run({ caller, at, prompt, fixture }) {
      for (const name of [route.waits(at), route.resumes(at)]) {
        const got = await once(() => caller.stream(name, prompt));
        whole(got.value, await fixture.says(prompt));
      }
    },
  },
  {
    name: "late error",
    shows: "no upstream answers, but signs of life went out already: the error is inside the stream, and the SDK raises it, after one request",
    upstreams: foreign,
    async run({ caller, home, at, prompt }) {
      const got = await watched(() => caller.stream(route.late(home, at), prompt));
      assert.ok(got.error, `no error; the SDK believes ${JSON.stringify(got.value)}`);
      assert.match(caller.broke(got.error, "upstreams_exhausted") ?? `not the SDK's error: ${described(got.error)}`, /primary .* backup /);
      assert.deepEqual(got.answers.map((a) => a.status), [200]);
    },
  },
  {
    name: "the caller's mistake",
    shows: "an upstream's 400: the SDK's error class for it, the upstream's words, one request, no other upstream; an unknown model is a 404",
    upstreams: all,
    async run({ caller, at, prompt }) {
      for (const ask of [caller.ask, caller.stream]) {
        assert.match(failed(caller, await watched(() => ask.call(caller, route.mistake(at), prompt)), 400), /no-such-colour/);
        assert.match(failed(caller, await watched(() => ask.call(caller, "nobody", prompt)), 404), /nobody/);
      }
    },
  },
  {
    name: "all dead",
    shows: "no upstream answers: the SDK's own error class with our words and request id, after exactly one request",
    upstreams: foreign,
    async run({ caller, home, at, prompt }) {
      for (const ask of [caller.ask, caller.stream]) {
        const message = failed(caller, await watched(() => ask.call(caller, route.gone(home, at), prompt)));
        assert.match(message, /primary/);
        assert.match(message, /backup/);
      }
    },
  },
  {
    name: "all limited",
    shows: "both upstreams ask to wait 90 seconds: an error at once, one request, and no SDK is told to wait more than 10",
    upstreams: foreign,
    async run({ caller, home, at, prompt }) {
      for (const ask of [caller.ask, caller.stream]) {
        const got = await watched(() => ask.call(caller, route.limited(home, at), prompt));
        failed(caller, got);
        const { headers } = got.answers[0];
        assert.ok(Number(headers.get("retry-after") ?? 0) <= 10);
        assert.ok(Number(headers.get("retry-after-ms")) <= 10_000);
      }
    },
  },
  {
    name: "last resort",
    shows: "no upstream answers, but there is a template: a whole answer in the SDK's eyes, plain and streamed",
    upstreams: foreign,
    async run({ caller, home, at, prompt }) {
      for (const ask of [caller.ask, caller.stream]) {
        const got = await once(() => ask.call(caller, route.last(home, at), prompt));
        whole(got.value, templateText);
        assert.equal(got.answer.headers.get("x-backstop-tier"), "local");
      }
    },
  },
];

// loops lets an SDK call a tool and answer with its result, and reads how the
// upstream was told of both.
async function loops(loop, model, { prompt, fixture }) {
  const inputs = [];
  const weather = (input) => {
    inputs.push(input);
    return "19 degrees, light rain";
  };
  const got = await watched(() => loop(model, prompt, weather));
  answered(got);
  assert.equal(got.answers.length, 2);
  assert.equal(got.value.text, await fixture.says(prompt));
  assert.equal(inputs.length, 1);
  const [first, second, ...more] = fixture.relay.about(prompt).map(conversation);
  assert.deepEqual(first, { calls: [], results: [] });
  assert.deepEqual(more, []);
  assert.deepEqual(second.calls.map(({ name, input }) => ({ name, input })), [{ name: "weather", input: inputs[0] }]);
  assert.deepEqual(second.results.map((r) => r.id), second.calls.map((c) => c.id));
  assert.match(second.results[0].text, /19 degrees, light rain/);
  return got;
}

// once is what an SDK made of one request; a second one is a failure.
async function once(run) {
  const got = await watched(run);
  answered(got);
  assert.equal(got.answers.length, 1, "requests sent by the SDK");
  return { value: got.value, answer: got.answers[0] };
}

// failed is the message of an error that the SDK knows as one of its own, told
// once, with our request id and nothing that is nobody's business.
function failed(caller, got, status = got.answers[0]?.status) {
  assert.ok(got.error, `no error; the SDK believes ${JSON.stringify(got.value)}`);
  assert.equal(got.answers.length, 1, "requests sent by the SDK");
  const told = caller.failed(got.error);
  assert.ok(told, `not the SDK's error: ${described(got.error)}`);
  assert.ok(status >= 400);
  assert.equal(told.status, status);
  if ("id" in told) assert.equal(told.id, got.answers[0].headers.get("x-request-id"));
  assert.doesNotMatch(described(got.error), /key-of-the-upstream|dial tcp|EOF/);
  return told.message;
}

function answered(got) {
  if (got.error) throw new Error(`the SDK raised ${described(got.error)}`, { cause: got.error });
}

function whole({ text, finish }, want) {
  assert.equal(text, want);
  assert.equal(finish, "stop");
}

function fromBackup({ answer }, at, reason) {
  assert.equal(answer.headers.get("x-backstop-tier"), "backup");
  assert.equal(answer.headers.get("x-backstop-upstream"), at);
  assert.match(answer.headers.get("x-backstop-reason") ?? "(none)", reason);
}

const described = (err) => `${err?.constructor?.name}: ${err?.message} ${JSON.stringify(err)?.slice(0, 600)}`;
