package main

// The further help of the commands: what a newcomer asks next, with examples.
// It fits on one screen together with the flags.

func (*serveCmd) Help() string {
	return `From a file, from two addresses, or from keys in the environment:

  backstop serve -c backstop.yaml
  backstop serve --primary https://api.openai.com/v1 --primary-key-env OPENAI_API_KEY --backup http://localhost:11434/v1
  OPENAI_API_KEY=… DEEPSEEK_API_KEY=… backstop serve

SIGTERM drains, SIGHUP and a changed file reload. Exit code 78: the configuration is at fault.`
}

func (*demoCmd) Help() string {
	return `Breaks the primary while it is under load (a hang, a 429, damaged JSON), prints what callers saw in each second and a verdict, then keeps serving until Ctrl-C.

  backstop demo
  backstop demo --once --fault status:503`
}

func (*checkCmd) Help() string {
	return `Errors name file, line and column, show the line and say what was probably meant. Warnings are about what works but is hardly meant.

  backstop check
  backstop check -c new.yaml --diff backstop.yaml
  backstop check --lenient -c from-a-newer-version.yaml

Exit code: 0 fine, 78 the configuration is at fault.`
}

func (*explainCmd) Help() string {
	return `Which route takes the name, which upstreams are asked in which order, what makes a call go on, and how long and how many upstream requests the worst case takes. Needs no key and calls nobody.

  backstop explain gpt-4o
  backstop explain gpt-4o -c backstop.yaml`
}

func (*benchCmd) Help() string {
	return `Calls are sent when they are due, whatever happened to the ones before; latency counts from then.

  backstop bench article
  backstop bench --target http://localhost:3000/v1/chat/completions --model gpt-4o --rate 50 --duration 30s

Exit code: 0 passed, 1 the verdict failed.`
}

func (*simCmd) Help() string {
	return `Asks how a plan would have done, without waiting for the next outage:

  backstop sim -f scenarios/hang.yaml
  backstop sim -f scenarios/hang.yaml -c backstop.yaml --svg outage.svg
  backstop serve | tee calls.jsonl; backstop sim --from-log calls.jsonl -c new.yaml

The same files and seed give the same report on every machine. Exit code 1: an expectation is not met.`
}

func (*whyCmd) Help() string {
	return `The id is in the x-request-id header of every answer. A local gateway's token is found by itself.

  backstop why order-4711
  backstop why order-4711 --admin http://localhost:3001 --token "$ADMIN_TOKEN"`
}

func (*mockCmd) Help() string {
	return `The model's name picks the fault: ask for hang, stall@20, 429:retry-after=2, fenced or truncated.

  backstop mock
  backstop mock --fault gpt-4o=hang`
}
