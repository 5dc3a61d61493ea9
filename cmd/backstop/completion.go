package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish,powershell" help:"bash, zsh, fish or powershell."`
}

func (*completionCmd) Help() string {
	return `Prints a script; let the shell read it at its start.

  bash:        echo 'source <(backstop completion bash)' >>~/.bashrc
  zsh:         backstop completion zsh >"${fpath[1]}/_backstop"
  fish:        backstop completion fish >~/.config/fish/completions/backstop.fish
  powershell:  backstop completion powershell >>$PROFILE`
}

func (c *completionCmd) Run(s *streams, k *kong.Context) error {
	write := map[string]func(io.Writer, []completed){"bash": bashScript, "zsh": zshScript, "fish": fishScript, "powershell": powershellScript}
	write[c.Shell](s.out, completions(k.Model.Node))
	return nil
}

// completed is a command as a shell completes it.
type completed struct {
	name, help string
	flags      []completedFlag
	words      []string // what its arguments may be
	files      bool     // an argument is a file
}

type completedFlag struct {
	long, short, help string
	value             bool // a value follows
	file              bool // … which is a file
	words             []string
}

// completions reads the command line's own description of itself.
func completions(root *kong.Node) (out []completed) {
	for _, n := range root.Children {
		if n.Hidden {
			continue
		}
		c := completed{name: n.Name, help: n.Help}
		for _, f := range n.Flags {
			c.flags = append(c.flags, completedFlag{
				long: f.Name, short: shortOf(f), help: f.Help, value: !f.IsBool(),
				file: slices.Contains([]string{"FILE", "OLD", "SCENARIO"}, f.PlaceHolder), words: wordsOf(f.Value),
			})
		}
		for _, p := range n.Positional {
			c.words = append(c.words, wordsOf(p)...)
			c.files = c.files || p.Name == "file"
		}
		out = append(out, c)
	}
	for i := range out {
		if out[i].name == "help" {
			for _, c := range out {
				out[i].words = append(out[i].words, c.name)
			}
		}
	}
	return out
}

func shortOf(f *kong.Flag) string {
	if f.Short == 0 {
		return ""
	}
	return string(f.Short)
}

func wordsOf(v *kong.Value) (out []string) {
	for _, w := range strings.Split(v.Enum, ",") {
		if w = strings.TrimSpace(w); w != "" {
			out = append(out, w)
		}
	}
	return out
}

// options are the flags of a command as they are typed.
func (c *completed) options() (out []string) {
	for _, f := range c.flags {
		out = append(out, "--"+f.long)
		if f.short != "" {
			out = append(out, "-"+f.short)
		}
	}
	return append(out, "--help")
}

// fileFlags are the flags that a file follows, over all commands.
func fileFlags(list []completed) (out []string) {
	for _, c := range list {
		for _, f := range c.flags {
			if f.file && !slices.Contains(out, "--"+f.long) {
				out = append(out, "--"+f.long)
			}
			if f.file && f.short != "" && !slices.Contains(out, "-"+f.short) {
				out = append(out, "-"+f.short)
			}
		}
	}
	return out
}

func namesOf(list []completed) (out []string) {
	for _, c := range list {
		out = append(out, c.name)
	}
	return out
}

func bashScript(w io.Writer, list []completed) {
	fmt.Fprintf(w, `# bash completion of %[1]s
_%[1]s() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=
  case $prev in
    %[2]s) COMPREPLY=($(compgen -f -- "$cur")); return ;;
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '%[3]s --help' -- "$cur"))
    return
  fi
  case ${COMP_WORDS[1]} in
`, programName, strings.Join(fileFlags(list), "|"), strings.Join(namesOf(list), " "))
	for _, c := range list {
		fmt.Fprintf(w, "    %s) words='%s' ;;\n", c.name, strings.Join(append(c.options(), c.words...), " "))
	}
	fmt.Fprintf(w, `  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  case ${COMP_WORDS[1]} in
    %[2]s) [ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "$cur")) ;;
  esac
}
complete -F _%[1]s %[1]s
`, programName, strings.Join(withFiles(list), "|"))
}

// withFiles are the commands whose arguments are files.
func withFiles(list []completed) (out []string) {
	for _, c := range list {
		if c.files {
			out = append(out, c.name)
		}
	}
	return out
}

// inQuotes makes a help text fit between single quotes and brackets of zsh.
func inQuotes(help string) string {
	return strings.NewReplacer("'", "", "[", "(", "]", ")", ":", " -", "`", "", "$", "", `"`, "", `\`, "").Replace(help)
}

func zshScript(w io.Writer, list []completed) {
	fmt.Fprintf(w, "#compdef %[1]s\n# zsh completion of %[1]s\n_%[1]s() {\n  local -a commands\n  commands=(\n", programName)
	for _, c := range list {
		fmt.Fprintf(w, "    '%s:%s'\n", c.name, inQuotes(c.help))
	}
	fmt.Fprint(w, "  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n  case $words[2] in\n")
	for _, c := range list {
		fmt.Fprintf(w, "    %s) _arguments '1: :'", c.name)
		for _, f := range c.flags {
			fmt.Fprintf(w, " \\\n      '--%s[%s]%s'", f.long, inQuotes(f.help), zshValue(f.value, f.file, f.words))
			if f.short != "" {
				fmt.Fprintf(w, " \\\n      '-%s[%s]%s'", f.short, inQuotes(f.help), zshValue(f.value, f.file, f.words))
			}
		}
		if c.files || len(c.words) > 0 {
			fmt.Fprintf(w, " \\\n      '*%s'", zshValue(true, c.files && len(c.words) == 0, c.words))
		}
		fmt.Fprint(w, " ;;\n")
	}
	fmt.Fprintf(w, "  esac\n}\nif [ \"$funcstack[1]\" = _%[1]s ]; then _%[1]s \"$@\"; else compdef _%[1]s %[1]s; fi\n", programName)
}

func zshValue(value, file bool, words []string) string {
	switch {
	case !value:
		return ""
	case file:
		return ":file:_files"
	case len(words) > 0:
		return ":word:(" + strings.Join(words, " ") + ")"
	}
	return ":value: "
}

func fishScript(w io.Writer, list []completed) {
	fmt.Fprintf(w, "# fish completion of %[1]s\ncomplete -c %[1]s -f\n", programName)
	for _, c := range list {
		fmt.Fprintf(w, "complete -c %s -n __fish_use_subcommand -a %s -d '%s'\n", programName, c.name, inQuotes(c.help))
	}
	for _, c := range list {
		when := "__fish_seen_subcommand_from " + c.name
		for _, f := range c.flags {
			fmt.Fprintf(w, "complete -c %s -n '%s' -l %s", programName, when, f.long)
			if f.short != "" {
				fmt.Fprintf(w, " -s %s", f.short)
			}
			switch {
			case f.file:
				fmt.Fprint(w, " -r -F")
			case len(f.words) > 0:
				fmt.Fprintf(w, " -x -a '%s'", strings.Join(f.words, " "))
			case f.value:
				fmt.Fprint(w, " -x")
			}
			fmt.Fprintf(w, " -d '%s'\n", inQuotes(f.help))
		}
		if len(c.words) > 0 {
			fmt.Fprintf(w, "complete -c %s -n '%s' -a '%s'\n", programName, when, strings.Join(c.words, " "))
		}
		if c.files {
			fmt.Fprintf(w, "complete -c %s -n '%s' -F\n", programName, when)
		}
	}
}

func powershellScript(w io.Writer, list []completed) {
	fmt.Fprintf(w, "# PowerShell completion of %[1]s\nRegister-ArgumentCompleter -Native -CommandName %[1]s -ScriptBlock {\n  param($word, $ast, $position)\n  $words = @{\n", programName)
	for _, c := range list {
		fmt.Fprintf(w, "    '%s' = @(%s)\n", c.name, quotedWords(append(c.options(), c.words...)))
	}
	fmt.Fprintf(w, `  }
  $typed = @($ast.CommandElements | ForEach-Object { $_.ToString() })
  $command = if ($typed.Count -gt 2 -or ($typed.Count -eq 2 -and $word -eq '')) { $typed[1] } else { '' }
  $list = if ($words.ContainsKey($command)) { $words[$command] } else { @(%s) }
  $list | Where-Object { $_ -like "$word*" } | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
  }
}
`, quotedWords(namesOf(list)))
}

func quotedWords(list []string) string {
	return "'" + strings.Join(list, "', '") + "'"
}
