// A fetch for an SDK that counts what the SDK really sends.
export function counted() {
  const answers = []; // {status, headers}, one for each request sent
  const counting = async (input, init) => {
    const seen = { status: 0, headers: new Headers() };
    answers.push(seen);
    const response = await fetch(input, init);
    seen.status = response.status;
    seen.headers = response.headers;
    return response;
  };
  return { fetch: counting, answers };
}
