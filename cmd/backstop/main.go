// Command backstop is the isolation layer in front of model APIs: a gateway,
// the tools to try it, and the tools to check what it would do.
//
// This is the only room that touches arguments, environment, signals and exit
// codes; everything else is a value that tests build in-process.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/alecthomas/kong"
)

// Exit codes are part of the contract.
const (
	exitFine    = 0
	exitFailed  = 1 // a verdict failed, or the process failed while running
	exitUsage   = 2
	exitConfig  = 78
	programName = "backstop"
)

// cli is the whole command line: one field a subcommand, one file each.
type cli struct {
	Serve      serveCmd      `cmd:"" help:"Run the gateway: from a file, from --primary and --backup, or from keys in the environment."`
	Demo       demoCmd       `cmd:"" help:"Watch an outage being survived: gateway, dashboard and two mock upstreams; needs no key."`
	Check      checkCmd      `cmd:"" help:"Check a configuration with the code that serve uses."`
	Mock       mockCmd       `cmd:"" help:"Run a model server that misbehaves on request, to test applications."`
	Bench      benchCmd      `cmd:"" help:"Send load at a fixed rate and judge the answers; 'bench article' needs nothing else."`
	Sim        simCmd        `cmd:"" help:"Play an outage in virtual time, with the decision code of the gateway; a scenario with expectations is a gate for CI."`
	Explain    explainCmd    `cmd:"" help:"Show what a request for a model would go through, with the worst case."`
	Doctor     doctorCmd     `cmd:"" help:"Find out why an upstream cannot be called: DNS, connection, TLS, keys; spends no token."`
	Why        whyCmd        `cmd:"" help:"Tell the story of one call: attempts, waits, verdicts, times."`
	Repair     repairCmd     `cmd:"" help:"Repair the JSON in a model's answer: standard input to standard output."`
	Import     importCmd     `cmd:"" help:"Turn the configuration of LiteLLM or Portkey into ours, and say what was not carried over."`
	Health     healthCmd     `cmd:"" help:"Ask a gateway whether it is ready; for health checks without a shell."`
	Completion completionCmd `cmd:"" help:"Print the completion script of a shell."`
	Version    versionCmd    `cmd:"" help:"Print version, commit and Go version."`
	Help       helpCmd       `cmd:"" help:"Show this help, or that of a command."`
}

// streams is what a command may touch of the outside besides the network.
type streams struct {
	ctx  context.Context
	in   io.Reader
	out  io.Writer
	err  io.Writer
	env  func(string) (string, bool)
	help func(args ...string) error
}

// exit is an error with an exit code; msg is complete, in one or two lines.
type exit struct {
	code int
	msg  string
}

func (e *exit) Error() string { return e.msg }

func failf(code int, form string, args ...any) error {
	return &exit{code, fmt.Sprintf(form, args...)}
}

func main() {
	os.Exit(run(os.Args[1:], &streams{ctx: context.Background(), in: os.Stdin, out: os.Stdout, err: os.Stderr, env: os.LookupEnv}))
}

// newParser knows the command line; exit is called when help was printed.
func newParser(s *streams, exit func(int)) (*kong.Kong, error) {
	return kong.New(new(cli), kong.Name(programName),
		kong.Description("Backstop keeps an application answering when its model API hangs, breaks or lies."),
		kong.UsageOnError(), kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
		kong.Writers(s.out, s.err), kong.Exit(exit))
}

// run is main without the process around it.
func run(args []string, s *streams) int {
	code := -1
	parser, err := newParser(s, func(n int) { code = n })
	if err != nil {
		fmt.Fprintln(s.err, programName+": "+err.Error())
		return exitFailed
	}
	s.help = func(args ...string) error {
		if code := run(append(args, "--help"), s); code != exitFine {
			return &exit{code: code}
		}
		return nil
	}
	if len(args) == 0 {
		_ = s.help()
		return exitUsage
	}
	k, err := parser.Parse(args)
	if code >= 0 { // --help was printed
		return code
	}
	if err != nil {
		fmt.Fprintf(s.err, "%s: %s\ntry '%s help%s'\n", programName, oneLine(err), programName, asked(err))
		return exitUsage
	}
	if err := k.Run(s); err != nil {
		return report(s, err)
	}
	return exitFine
}

// asked is the command that a line with a usage error named, behind a blank;
// empty if there was none.
func asked(err error) string {
	var p *kong.ParseError
	if !errors.As(err, &p) || p.Context == nil || p.Context.Selected() == nil {
		return ""
	}
	return " " + p.Context.Selected().Name
}

func report(s *streams, err error) int {
	var e *exit
	if errors.As(err, &e) {
		switch {
		case e.msg == "":
		case e.code == exitConfig: // begins with file:line:column, for editors
			fmt.Fprintln(s.err, strings.TrimRight(e.msg, "\n"))
		default:
			fmt.Fprintln(s.err, programName+": "+e.msg)
		}
		return e.code
	}
	fmt.Fprintln(s.err, programName+": "+oneLine(err))
	return exitFailed
}

func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", " ") }
