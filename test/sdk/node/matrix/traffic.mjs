// Counts what an SDK really sends, whichever way it came by its fetch: imported
// before any SDK, this puts a counting one in the place of the global. A
// request belongs to the test whose calls led to it.
import { AsyncLocalStorage } from "node:async_hooks";

const place = new AsyncLocalStorage();
const send = globalThis.fetch;

globalThis.fetch = async (input, init) => {
  const seen = { status: 0, headers: new Headers() };
  place.getStore()?.push(seen);
  const response = await send(input, init);
  seen.status = response.status;
  seen.headers = response.headers;
  return response;
};

// watched runs what an SDK is asked to do: {value} or {error}, and one answer
// {status, headers} for each request that was sent.
export async function watched(run) {
  const answers = [];
  return place.run(answers, async () => {
    try {
      return { value: await run(), answers };
    } catch (error) {
      return { error, answers };
    }
  });
}
