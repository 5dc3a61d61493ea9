// Every SDK through every scenario and every dialect of an upstream. The table
// of it is in docs/sdks.md.
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";

import "./matrix/traffic.mjs"; // before any SDK
import { callers } from "./matrix/callers.mjs";
import { reached, scenarios } from "./matrix/scenarios.mjs";
import { stale } from "./matrix/table.mjs";
import { Fixture } from "./matrix/fixture.mjs";

const fixture = await Fixture.open();
after(() => fixture.close());

let asked = 0;

for (const sdk of callers) {
  describe(sdk.name, { concurrency: 4 }, () => {
    const caller = sdk.open(fixture[sdk.signal].url);
    for (const scenario of scenarios) {
      for (const at of reached(sdk, scenario)) {
        test(`${scenario.name}: ${at}`, () => scenario.run({ caller, home: sdk.form, at, fixture, prompt: `question number ${++asked} of the day` }));
      }
    }
  });
}

test("docs/sdks.md lists exactly these SDKs and scenarios; BACKSTOP_SDK_UPDATE=1 writes it", async () => {
  assert.deepEqual(await stale(process.env.BACKSTOP_SDK_UPDATE === "1"), []);
});
