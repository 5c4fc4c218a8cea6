"""The man page and the shell completions name what the command has, and nothing else."""

import os
import re
import subprocess
import unittest

from tool import SOURCE_DIR, Case

COMMANDS = ("info", "run", "kernels", "compile", "corpus", "trace", "exec", "check", "tune", "wrap",
            "setup")


def text_of(path):
    with open(os.path.join(SOURCE_DIR, path), encoding="utf-8") as file:
        return file.read()


class Documentation(Case):
    def setUp(self):
        super().setUp()
        self.options = {}
        for command in COMMANDS:
            text = self.good(command, "--help").stdout
            names = re.findall(r"^  (?:-\w,)?(--[a-z]+)", text, re.M)
            self.options[command] = set(names) - {"--help"}
            self.assertTrue(self.options[command], command)
        self.all = set().union(*self.options.values())

    def test_man_page(self):
        page = text_of("man/kernelmill.1").replace("\\-", "-")
        body = page[page.index(".SH COMMANDS"):]
        named = set(re.findall(r"(?<![\w-])--[a-z]+", body))
        self.assertEqual(named - {"--help", "--version"}, self.all)

    def test_completions(self):
        for path in ("completions/kernelmill.bash", "completions/_kernelmill"):
            named = set(re.findall(r"(?<![\w-])--[a-z]+", text_of(path)))
            self.assertEqual(named - {"--help", "--version"}, self.all, path)
        fish = set(re.findall(r"(?<!set) -l ([a-z]+)", text_of("completions/kernelmill.fish")))
        self.assertEqual({f"--{name}" for name in fish} - {"--help", "--version"}, self.all)

    def test_bash_completes(self):
        script = f"""
            _init_completion() {{ words=("${{COMP_WORDS[@]}}"); cword=$COMP_CWORD
              cur=${{words[cword]}}; prev=${{words[cword-1]}}; }}
            _filedir() {{ COMPREPLY=(files "$@"); }}
            __ltrim_colon_completions() {{ :; }}
            compopt() {{ :; }}
            source {SOURCE_DIR}/completions/kernelmill.bash
            for line in "kernelmill com" "kernelmill compile --ins" "kernelmill run --arg pri" \\
                        "kernelmill run --rep" "kernelmill info --j" "kernelmill run x"; do
              COMP_WORDS=($line); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); COMPREPLY=()
              _kernelmill; echo "${{COMPREPLY[*]}}"
            done"""
        result = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60,
                                check=True)
        self.assertEqual(result.stderr, "")
        self.assertEqual(result.stdout.splitlines(),
                         ["compile", "--instantiate", "print:", "--repeat", "--json",
                          "files @(cu|ptx)"])


if __name__ == "__main__":
    unittest.main()
