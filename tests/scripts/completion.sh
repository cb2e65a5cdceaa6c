#!/bin/sh
# Completion of the tools in bash, zsh and fish, by the shells themselves: bash and zsh on a terminal that types, fish by `complete -C`.
# Every option that --help names is completed, values too; rex-run completes its program, the program's own arguments, and not its options.
set -eu
cd "$(dirname "$0")/../.."
O=${O:-$(make -s --no-print-directory print-O)}
case $O in /*) ;; *) O=$PWD/$O ;; esac
export O
exec python3 - <<'PYTHON'
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile

O = os.environ["O"]
TOOLS = ["rex-cc", "rex-check", "rex-info", "rex-report", "rex-run"]
failures = 0
checks = 0


def fail(text):
    global failures
    failures += 1
    print("FAIL: " + text)


class Terminal:
    """A shell that is typed to. All it says is kept; end() waits for what the last line prints."""

    def __init__(self, command, folder):
        self.said = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe(command[0], command, {"PATH": O + "/tools:" + os.environ["PATH"], "TERM": "dumb", "HOME": folder, "LC_ALL": "C"})
        self.number = 0

    def until(self, marker):
        begin = len(self.said)
        while marker not in self.said[begin:]:
            if not select.select([self.fd], [], [], 60)[0]:
                raise TimeoutError(self.said.decode(errors="replace")[-500:])
            self.said += os.read(self.fd, 65536)
        return self.said[begin:].decode(errors="replace")

    def run(self, line):
        """what LINE prints: the shell puts the two halves of the marker together, so that its echo is not it"""
        self.number += 1
        os.write(self.fd, line + b"; echo 'do''ne'%d\r" % self.number)
        return self.until(b"done%d" % self.number)

    def close(self):
        os.close(self.fd)
        os.waitpid(self.pid, 0)


class Bash:
    """Readline's insert-completions (Meta-*) puts all candidates on the line, which is printed then."""

    def __init__(self, folder):
        with open(folder + "/inputrc", "w") as file:
            file.write("set enable-bracketed-paste off\nset horizontal-scroll-mode off\n")
        self.terminal = Terminal(["bash", "--noprofile", "--norc", "-i"], folder)
        self.terminal.run(b"PS1= ; bind -f inputrc; stty columns 5000 2>/dev/null")
        for tool in TOOLS:
            self.terminal.run(("source %s/completion/bash/%s" % (O, tool)).encode())

    def candidates(self, line):
        words = line.split(" ")
        self.terminal.number += 1
        number = self.terminal.number
        # To the beginning of the line a command that prints its words.
        os.write(self.terminal.fd, line.encode() + b"\x1b*\x01printf '<%s>' \x05; echo 'do''ne'" + b"%d\r" % number)
        said = self.terminal.until(b"done%d" % number)
        printed = re.findall(r"<([^<>]*)>", said[said.rfind("\n<") if "\n<" in said else 0:])
        printed = [word for word in printed if word not in ("%s",)]
        found = printed[len(words) - 1:]
        # Without a candidate the word itself is printed.
        return [] if found == [words[-1]] and not found[0] else found

    def close(self):
        self.terminal.close()


class Zsh:
    """compadd writes down what matches before it does its work. What is typed meanwhile would end a completion."""

    def __init__(self, folder):
        self.hits = folder + "/hits"
        self.terminal = Terminal(["zsh", "-f", "-i"], folder)
        with open(folder + "/setup", "w") as file:
            file.write("""
PS1= PS2=; unsetopt zle_bracketed_paste prompt_sp 2>/dev/null; zstyle ':completion:*' completer _complete
fpath=(%s/completion/zsh $fpath); autoload -U compinit; compinit -u -D
compadd() {
    local -a hits flags
    if [[ ${@[1,(i)(-|--)]} != *-(O|A|D)\\ * ]]; then
        builtin compadd -A hits "$@"
        # The text behind the last match that an option wants, "=".
        zparseopts -E -a flags S: P:
        local at=${flags[(i)-S]}
        print -rl -- ${^hits}${flags[at+1]:-} >>%s
    fi
    builtin compadd "$@"
}
list_and_tell() { zle list-choices; print -n listed >/dev/tty }
zle -N list_and_tell
bindkey '^I' list_and_tell
bindkey '^U' kill-whole-line
""" % (O, self.hits))
        self.terminal.run(b". ./setup; stty columns 5000")

    def candidates(self, line):
        open(self.hits, "w").close()
        os.write(self.terminal.fd, line.encode() + b"\t")
        self.terminal.until(b"listed")
        os.write(self.terminal.fd, b"\x15")
        self.terminal.run(b"true")
        with open(self.hits) as file:
            return sorted({hit.rstrip("\n") for hit in file} - {""})

    def close(self):
        self.terminal.close()


class Fish:
    def __init__(self, folder):
        self.folder = folder

    def candidates(self, line):
        script = "".join("source %s/completion/fish/%s.fish;" % (O, tool) for tool in TOOLS)
        run = subprocess.run(["fish", "--no-config", "-c", script + "complete -C'%s'" % line], cwd=self.folder, capture_output=True,
                             text=True, env={"PATH": O + "/tools:" + os.environ["PATH"], "HOME": self.folder, "LC_ALL": "C"})
        return [row.split("\t")[0] for row in run.stdout.splitlines()]

    def close(self):
        pass


def bare(candidates):
    """without what stands in front of a value, the = behind an option, and quoting"""
    return {re.sub(r"^--[a-z]+=(?=.)", "", word).rstrip("= ").replace("\\", "") for word in candidates}


def options_of(tool):
    """spellings of the options, and those whose values --help lists; read apart from completions.awk"""
    text = subprocess.run([O + "/tools/" + tool, "--help"], capture_output=True, text=True).stdout
    names, values = set(), {}
    for line in text.splitlines():
        if not line.startswith("  -"):
            continue
        head, _, meaning = line.strip().partition("  ")
        names |= {re.split("[= ]", name)[0] for name in head.split(", ")}
        listed = re.search(r"(?:: |^)((?:[a-z]+(?: \([^)]*\))?, )+[a-z]+ or [a-z]+|[a-z]+(?: \([^)]*\))?, [a-z]+ or [a-z]+)", meaning.strip())
        if listed and "=" in head:
            values[head.split("=")[0]] = set(re.findall("[a-z]+", re.sub(r"\([^)]*\)|\bor\b", "", listed[1])))
    return names, values


def expect(shell, line, wanted, found):
    global checks
    checks += 1
    if not wanted <= found:
        fail("%s: %r is completed to %s, without %s" % (shell, line, sorted(found)[:20], sorted(wanted - found)))


def expect_only(shell, line, wanted, found):
    global checks
    checks += 1
    if found != wanted:
        fail("%s: %r is completed to %s and not to %s" % (shell, line, sorted(found)[:20], sorted(wanted)))


def check_tool(name, shell, tool):
    options, values = options_of(tool)
    long = {option for option in options if option.startswith("--")}
    expect_only(name, tool + " --", long, bare(shell.candidates(tool + " --")))
    for option in options - long:
        # fish and zsh show single letters behind one dash; some have no other name.
        if len(option) > 2:
            expect(name, tool + " " + option[:3], {option}, bare(shell.candidates(tool + " " + option[:3])))
    for option, wanted in values.items():
        expect_only(name, "%s %s=" % (tool, option), wanted, bare(shell.candidates("%s %s=" % (tool, option))))
    return len(values)


def check_files(name, shell):
    for line in ("rex-check here", "rex-cc here", "rex-cc -o here", "rex-check --source here", "rex-report here", "rex-report -o here"):
        expect(name, line, {"here.c"}, bare(shell.candidates(line)))
    expect_only(name, "rex-info here", set(), bare(shell.candidates("rex-info here")) - {"here"})
    expect(name, "rex-run --trace=here", {"here.c"}, bare(shell.candidates("rex-run --trace=here")))


def check_program(name, shell):
    for line in ("rex-run rex-inf", "rex-run --wait=spin rex-inf", "rex-run --wait spin --log info rex-inf"):
        expect(name, line, {"rex-info"}, bare(shell.candidates(line)))
    expect(name, "rex-run ls here", {"here.c"}, bare(shell.candidates("rex-run ls here")))
    found = bare(shell.candidates("rex-run ls --w"))
    if "--wait" in found:
        fail("%s: rex-run completes its own options behind the program" % name)
    if name != "bash":  # which knows other programs' options by the package bash-completion alone
        expect(name, "rex-run rex-info --ab", {"--abi"}, bare(shell.candidates("rex-run rex-info --ab")))


def check_shell(name, make):
    with tempfile.TemporaryDirectory() as folder:
        open(folder + "/here.c", "w").close()
        shell = make(folder)
        values = sum(check_tool(name, shell, tool) for tool in TOOLS)
        if values < 3:
            fail("%s: --help lists no values" % name)
        check_files(name, shell)
        check_program(name, shell)
        shell.close()


missing = []
for name, make in (("bash", Bash), ("zsh", Zsh), ("fish", Fish)):
    if shutil.which(name):
        check_shell(name, make)
    else:
        missing.append(name)
print("%d completions" % checks)
if not failures and missing:
    print("skip: no " + ", no ".join(missing))
sys.exit(1 if failures else 77 if missing else 0)
PYTHON
