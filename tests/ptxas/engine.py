"""Kernelmill's front end as the other judge, by the program km_ptx_verdicts."""

import subprocess


class Engine:
    """Asks km_ptx_verdicts about modules."""

    def __init__(self, path):
        self.path = path

    def samples(self):
        """An example of each form with each word that it takes."""
        done = subprocess.run([self.path, "--samples"], capture_output=True, check=True)
        return done.stdout.decode().splitlines()

    def check_modules(self, texts):
        """Of each module "ok", "invalid MESSAGE" or "unsupported MESSAGE"."""
        parts = []
        for text in texts:
            data = text.encode()
            parts.append(b"%d\n" % len(data) + data)
        done = subprocess.run([self.path], input=b"".join(parts), capture_output=True, check=True)
        answers = done.stdout.decode(errors="replace").splitlines()
        if len(answers) != len(texts):
            raise RuntimeError(f"{len(texts)} modules, {len(answers)} answers")
        return answers

    def check(self, pieces, wrap):
        """The same of pieces, each in a module of its own."""
        answers = []
        for start in range(0, len(pieces), 2000):
            answers += self.check_modules([wrap([piece])[0]
                                           for piece in pieces[start:start + 2000]])
        return answers
