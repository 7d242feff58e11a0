# SPDX-License-Identifier: Apache-2.0
"""Manual pages and completions, of all three programs, held against what --help shows, in the shells themselves.

usage: test_completions.py PARSHALL [unittest arguments]
"""

import functools
import os
import pathlib
import pty
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
PARSHALL = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else None
PROGRAMS = "parshall", "parshall-lab", "parshall-test"
MADE = None  # folder of what the tools made


@functools.cache
def help_of(path):
    program, *words = path
    for option in ("--help-all", "--help"):  # only commands with many options have both
        command = [str(pathlib.Path(PARSHALL).with_name(program)), *words, option]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return done.stdout
    raise RuntimeError(done.stderr)


def options_in(text):
    """Names of options, with what help says after them on their line: its own layout, read as a person does."""
    lines = re.findall(r"(?m)^  (-\S+)(.*)$", text)
    return {name: rest for names, rest in lines for name in names.split(",")}


def commands():
    """Every command there is, as words, by what help says of the ones above it."""
    waiting = [(program,) for program in PROGRAMS]
    while waiting:
        path = waiting.pop(0)
        yield path
        below = help_of(path).partition("\nSubcommands:\n")[2]
        waiting += [(*path, name) for name in re.findall(r"(?m)^  ([a-z][\w-]*) ", below)]


class Bash:
    """The functions of a completion, called as bash calls them."""

    @staticmethod
    def of(words):
        """What a tabulator after these words offers; the last one is begun, and may be empty."""
        # bash cuts words at = and : too
        cut = [part for word in words for part in (re.findall(r"[=:]|[^=:]+", word) or [""])]
        if words[-1][-1:] in ("=", ":"):
            cut = cut[:-1] + [words[-1][-1]]
        script = (
            f"compopt() {{ :; }}; source {MADE}/completions/bash/{words[0]}; "
            f"COMP_WORDS=({' '.join(map(shlex.quote, cut))}); COMP_CWORD={len(cut) - 1}; "
            f"_{'_' + words[0].replace('-', '_')}; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        )
        done = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, text=True, check=True, timeout=20)
        if done.stderr:
            raise AssertionError(done.stderr)
        return set(done.stdout.split("\n")) - {""}


class Fish:
    @staticmethod
    def of(words):
        line = " ".join(words)
        script = f"set -p fish_complete_path {MADE}/completions/fish; complete -C {shlex.quote(line)}"
        done = subprocess.run(
            ["fish", "--no-config", "-c", script],
            capture_output=True,
            text=True,
            check=True,
            timeout=20,
            env={**os.environ, "HOME": str(MADE), "PATH": f"{os.path.dirname(PARSHALL)}:{os.environ['PATH']}"},
        )  # it completes what there is
        offers = {line.split("\t")[0] for line in done.stdout.splitlines()}
        # Since version 4 it also offers, after these, what has the word in another place.
        return {offer for offer in offers if offer.startswith(words[-1])} or offers


class Terminal:
    """A shell that believes a person types."""

    def __init__(self, *command, **environment):
        self.process, self.master = pty.fork()
        if self.process == 0:
            os.chdir(MADE)
            os.execvpe(
                command[0],
                command,
                {"PATH": os.environ["PATH"], "TERM": "dumb", "HOME": str(MADE), "LANG": "C.UTF-8", **environment},
            )

    def type(self, text):
        os.write(self.master, text.encode())

    def read_to(self, end, seconds=20):
        said, until = "", time.monotonic() + seconds
        while end not in said:
            if not select.select([self.master], [], [], max(0, until - time.monotonic()))[0]:
                raise AssertionError(f"no {end!r} in {said!r}")
            said += os.read(self.master, 65536).decode(errors="replace")
        return said

    def close(self):
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        os.close(self.master)


class Zsh:
    """Its completion system, which only works where somebody types; compadd, where all that is offered comes by, tells
    what."""

    SET_UP = r"""
PS1= RPS1= ; unsetopt zle_bracketed_paste prompt_sp 2>/dev/null; fpath=(%s/completions/zsh $fpath); autoload -U compinit; compinit -D -u
zstyle ':completion:*' list-prompt ''
zstyle ':completion:*' insert-tab false
compadd() {
  local -a hits
  if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return $?; fi
  builtin compadd -A hits "$@"
  (( $#hits )) && print -r -- "<HIT>${(j:<HIT>:)hits}<HIT>"
  builtin compadd "$@"
}
ended() { print -r -- "<E""ND>" ; compstate[insert]= ; compstate[list]= }
ask() { comppostfuncs=(ended); zle complete-word }
zle -N ask; bindkey '^I' ask; bindkey '^X' kill-whole-line
print REA""DY
"""  # noqa: E501

    def __init__(self):
        (MADE / "setup.zsh").write_text(self.SET_UP % MADE)
        self.terminal = Terminal("zsh", "-f", "-i")
        self.terminal.type("source ./setup.zsh\n")
        self.terminal.read_to("READY")

    def of(self, words):
        self.terminal.type("\x18" + " ".join(words) + "\t")
        said = self.terminal.read_to("<END>")
        return {hit for line in said.splitlines() for hit in line.split("<HIT>")[1:-1]}


class Completions(unittest.TestCase):
    def check_shell(self, of):
        """Every option that help shows is offered, and none other, after - and, the long ones, after --; so is every
        command."""
        for path in commands():
            with self.subTest(path=" ".join(path)):
                wanted = set(options_in(help_of(path)))
                self.assertIn("--help", wanted)
                offered = of((*path, "-")) | of((*path, "--"))
                self.assertEqual({word for word in offered if word.startswith("-")}, wanted)
                below = help_of(path).partition("\nSubcommands:\n")[2]
                if below:
                    self.assertEqual(of((*path, "")), set(re.findall(r"(?m)^  ([a-z][\w-]*) ", below)))
                for name, rest in options_in(help_of(path)).items():  # what help says to be one of a few
                    if choices := re.match(r" (?:[A-Z]+:)?\{([^}]+)\}", rest):
                        self.assertEqual(of((*path, name, "")), set(choices[1].split(",")), name)

    def check_values(self, of):
        (MADE / "some.pcap").write_bytes(b"")
        self.assertEqual(of(("parshall", "watch", "--ta")), {"--tasks", "--task", "--task-keys"})
        self.assertEqual(of(("parshall", "watch", "--format", "js")), {"json", "jsonl"})
        self.assertEqual(of(("parshall", "watch", "-r", "x.pcap", "--expl")), {"--explain"})
        self.assertEqual(of(("parshall", "--config", "watch", "wat")), {"watch"})  # the first is a file
        self.assertEqual(of(("parshall", "list", "ex")), {"exporters", "experiments"})
        self.assertIn("heavy-hitters", of(("parshall", "watch", "--tasks", "")))
        self.assertIn("parquet:", of(("parshall", "watch", "--export", "parq")))
        self.assertIn("lo", of(("parshall", "watch", "-i", "l")))
        self.assertEqual(of(("parshall", "watch", "--count", "")), set())

    def test_bash_offers_every_option_and_command_of_help(self):
        self.check_shell(Bash.of)

    def test_bash_offers_what_an_option_can_be(self):
        self.check_values(Bash.of)
        self.assertEqual(Bash.of(("parshall", "watch", "--format=js")), {"json", "jsonl"})
        self.assertEqual(Bash.of(("parshall", "watch", "--tasks", "entropy,heavy")), {"entropy,heavy-hitters"})
        self.assertEqual(Bash.of(("parshall", "watch", "-g", "flows=100,dis")), {"100,dist="})
        self.assertEqual(Bash.of(("parshall", "watch", "-g", "flows=")), set())
        self.assertEqual(Bash.of(("parshall", "watch", "--columns", "+gap_mean", "iat_mea")), {"iat_mean_ns"})

    def test_bash_with_somebody_at_it(self):
        terminal = Terminal("bash", "--norc", "-i", PS1="$ ")
        self.addCleanup(terminal.close)
        (MADE / "some.pcap").write_bytes(b"")
        terminal.type(f"bind 'set bell-style none'; source {MADE}/completions/bash/parshall; echo REA''DY\n")
        terminal.read_to("READY")
        terminal.type("parshall watch --ta\t\t\t")
        shown = terminal.read_to("--task-keys")
        self.assertEqual(set(re.findall(r"--ta\w[\w-]*", shown)), {"--tasks", "--task", "--task-keys"})
        terminal.type("\x15parshall watch --expl\t--format te\t-r so\t-q \x01echo \n")
        self.assertIn("\nparshall watch --explain --format text -r some.pcap -q\r\n", terminal.read_to("-q\r\n"))

    @unittest.skipUnless(shutil.which("fish"), "SKIPPED: fish is not installed")
    def test_fish_offers_every_option_and_command_of_help(self):
        self.check_shell(Fish.of)

    @unittest.skipUnless(shutil.which("fish"), "SKIPPED: fish is not installed")
    def test_fish_offers_what_an_option_can_be(self):
        self.check_values(Fish.of)
        self.assertEqual(Fish.of(("parshall", "watch", "--tasks", "entropy,heavy")), {"entropy,heavy-hitters"})

    @unittest.skipUnless(shutil.which("zsh"), "SKIPPED: zsh is not installed")
    def test_zsh_offers_every_option_and_command_of_help(self):
        shell = Zsh()
        self.addCleanup(shell.terminal.close)
        self.check_shell(shell.of)

    @unittest.skipUnless(shutil.which("zsh"), "SKIPPED: zsh is not installed")
    def test_zsh_offers_what_an_option_can_be(self):
        shell = Zsh()
        self.addCleanup(shell.terminal.close)
        self.check_values(shell.of)


class ManualPages(unittest.TestCase):
    def source_of(self, name):
        found = list((MADE / "man").glob(f"*/{name}.1"))
        self.assertEqual(len(found), 1, name)
        source = found[0].read_text()
        elsewhere = re.fullmatch(r"\.so man1/(.*)\.1\n", source)
        return self.source_of(elsewhere[1]) if elsewhere else source

    def words_of(self, name):
        """Without what is groff's, and one space between words."""
        source = re.sub(r"\\f[BIR]|\\&|\\:", "", self.source_of(name))
        for groffs, plain in (
            (r"\-", "-"),
            (r"\(aq", "'"),
            (r"\(ga", "`"),
            (r"\(ha", "^"),
            (r"\(ti", "~"),
            (r"\e", "\\"),
        ):
            source = source.replace(groffs, plain)
        return " ".join(source.split())

    def test_each_command_has_a_page_with_every_option_and_its_help(self):
        for path in commands():
            with self.subTest(path=" ".join(path)):
                plain = self.words_of("-".join(path))
                text = help_of(path)
                self.assertIn(text.splitlines()[0].rstrip(".")[1:], plain)
                for name in options_in(text):
                    self.assertRegex(plain, rf"\.TP (\S+, )*{re.escape(name)}[ ,]")
                for said in re.findall(r"(?m)^ {2,34}(?:-\S.* )? {2,}([^- ].*)$", text):  # the second column
                    self.assertIn(" ".join(said.split()), plain)

    def test_groff_has_nothing_against_them(self):
        if shutil.which("groff") is None:
            self.skipTest("SKIPPED: groff is not installed")
        pages = [page for page in (MADE / "man").glob("*/*.1") if not page.read_text().startswith(".so ")]
        self.assertGreater(len(pages), 30)
        done = subprocess.run(
            ["groff", "-man", "-ww", "-Tutf8", "-z", *map(str, pages)], capture_output=True, text=True, check=True
        )
        self.assertEqual(done.stderr, "")


class Programs(unittest.TestCase):
    def test_what_they_are_made_of_is_not_in_help(self):
        for program in PROGRAMS:
            self.assertNotIn("describe", help_of((program,)))


def setUpModule():
    global MADE
    folder = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(folder.cleanup)
    MADE = pathlib.Path(folder.name)
    for tool, into in (("man.py", "man"), ("completions.py", "completions")):
        subprocess.run([sys.executable, TOOLS / tool, PARSHALL, MADE / into], check=True)


if __name__ == "__main__":
    unittest.main(verbosity=2)  # says what is left out
