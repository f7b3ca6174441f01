#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""packaging/rsm-nodes: which commands it makes of a file, with a program in rsmctl's place."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[3] / "packaging/rsm-nodes"
# Knows the nodes that KNOWN has, refuses those of REFUSED, and writes down what it is asked for.
RSMCTL = """#!/bin/sh
case $2 in
show) case " $KNOWN " in *" $3 "*) exit 0 ;; esac; exit 1 ;;
esac
echo "$*" >>"$ASKED"
case " $REFUSED " in *" $3 "*) exit 1 ;; esac
"""


class RsmNodes(unittest.TestCase):
    """What a file with nodes does."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        program = self.folder / "rsmctl"
        program.write_text(RSMCTL, encoding="ascii")
        program.chmod(0o755)
        self.asked = self.folder / "asked"

    def run_with(self, text, known="", refused=""):
        """The status, the commands, and what went to standard error."""
        nodes = self.folder / "nodes"
        nodes.write_bytes(text.encode())
        return self.run_script(nodes, KNOWN=known, REFUSED=refused)

    def run_script(self, *words, **environment):
        self.asked.write_text("", encoding="ascii")
        answer = subprocess.run([SCRIPT, *words], capture_output=True, text=True, check=False, env={
            "PATH": f"{self.folder}:{os.environ['PATH']}", "ASKED": str(self.asked), "KNOWN": "", "REFUSED": "",
            **environment})
        return answer.returncode, self.asked.read_text(encoding="ascii").splitlines(), answer.stderr

    def test_adds_and_changes(self):
        self.assertEqual(self.run_with("1 10.77.1.1\n  2\t10.77.1.2  \n", known="2"),
                         (0, ["node add 1 10.77.1.1 -c rdma0", "node set 2 10.77.1.2 -c rdma0"], ""))

    def test_comments_and_ends_of_lines(self):
        text = "# all\n\n1 10.77.1.1#first\n 2 10.77.1.2 # second\r\n\r\n3 fd00::3"
        self.assertEqual(self.run_with(text), (0, [
            "node add 1 10.77.1.1 -c rdma0", "node add 2 10.77.1.2 -c rdma0", "node add 3 fd00::3 -c rdma0"], ""))

    def test_a_bad_line_fails_and_the_others_count(self):
        status, asked, said = self.run_with("1\n2 10.77.1.2 3\n-c rdma0\nx 10.77.1.4\n5 10.77.1.5\n* *\n6 --help\n")
        self.assertEqual((status, asked), (1, ["node add 5 10.77.1.5 -c rdma0"]))
        for line in ("1", "2 10.77.1.2 3", "-c rdma0", "x 10.77.1.4", "* *", "6 --help"):
            self.assertIn(f"rsm-nodes: not a node id and an address: {line}\n", said)

    def test_a_refusal_fails_and_the_others_count(self):
        status, asked, _ = self.run_with("1 10.77.1.1\n2 10.77.1.2\n", refused="1")
        self.assertEqual((status, len(asked)), (1, 2))

    def test_a_file_that_is_not_there(self):
        status, asked, said = self.run_script(self.folder / "none")
        self.assertEqual((status, asked), (1, []))
        self.assertIn("none can't be read", said)

    def test_a_directory_is_no_file(self):
        status, asked, said = self.run_script(self.folder)
        self.assertEqual((status, asked), (1, []))
        self.assertIn("can't be read", said)

    def test_words_are_no_patterns(self):
        (self.folder / "10.77.1.1").touch()
        status, asked, _ = self.run_with(f"1 {self.folder}/1*.1\n")
        self.assertEqual((status, asked), (0, [f"node add 1 {self.folder}/1*.1 -c rdma0"]))

    def test_a_secret_that_a_link_does_not_find(self):
        nodes, secret = self.folder / "list", self.folder / "secret"
        nodes.write_text("1 10.77.1.1\n", encoding="ascii")
        secret.symlink_to("/nonexistent/secret")
        self.assertEqual(self.run_script(nodes, secret, REFUSED=str(secret))[:2], (1, [f"node secret {secret} -c rdma0"]))

    def test_the_secret_comes_first(self):
        nodes, secret = self.folder / "list", self.folder / "secret"
        nodes.write_text("1 10.77.1.1\n", encoding="ascii")
        secret.write_text("", encoding="ascii")
        self.assertEqual(self.run_script(nodes, secret)[1], [f"node secret {secret} -c rdma0", "node add 1 10.77.1.1 -c rdma0"])
        self.assertEqual(self.run_script(nodes, secret, REFUSED=str(secret))[:2], (1, [f"node secret {secret} -c rdma0"]))


if __name__ == "__main__":
    unittest.main()
