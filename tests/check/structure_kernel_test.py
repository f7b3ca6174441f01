#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What tests/static/structure-kernel finds in folders of a few small files.

usage: structure_kernel_test.py [TEST...]
"""

import subprocess
import tempfile
import unittest
from pathlib import Path

CHECK = Path(__file__).resolve().parents[1] / "static/structure-kernel"


def run(files, *options):
    """The exit status and the output for files of this text."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder) / "kernel" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = subprocess.run([CHECK, *options, Path(folder) / "kernel"], text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def ring(count):
    """As many files, each of which calls the next one, and the last the first."""
    return {f"part/{i}.c": f"int f{i}(void)\n{{\n\treturn f{(i + 1) % count}();\n}}\n" for i in range(count)}


class Circles(unittest.TestCase):
    """Files that depend on each other."""

    def test_five_files_may(self):
        self.assertEqual(run(ring(5))[0], 0)

    def test_six_files_may_not(self):
        status, text = run(ring(6))
        self.assertEqual(status, 1)
        self.assertIn("part/5.c -> part/0.c: f0", text)

    def test_a_variable_closes_a_circle(self):
        files = ring(6)
        files["part/5.c"] = "struct list_head f5_list = { f0_data };\nint f5(void)\n{\n\treturn 0;\n}\n"
        self.assertEqual(run(files)[0], 0)
        files["part/0.c"] += "int f0_data = 1;\n"
        self.assertEqual(run(files)[0], 1)

    def test_a_lock_that_a_macro_makes_closes_a_circle(self):
        files = ring(6)
        files["part/5.c"] = "int f5(void)\n{\n\tmutex_lock(&big_lock);\n\treturn 0;\n}\n"
        files["part/0.c"] += "DEFINE_MUTEX(big_lock);\n"
        self.assertEqual(run(files)[0], 1)

    def test_a_table_of_operations_opens_it(self):
        files = ring(6)
        files["part/5.c"] = "int f5(struct ops *ops)\n{\n\treturn ops->start();\n}\n"
        files["part/0.c"] += "static int start(void)\n{\n\treturn 0;\n}\n"
        files["part/0.c"] += "const struct ops rsm_ops = { .start = start };\n"
        self.assertEqual(run(files)[0], 0)

    def test_comments_and_strings_are_no_calls(self):
        files = ring(6)
        files["part/5.c"] = "/* f0() */\nint f5(void)\n{\n\treturn log(\"f0()\"); // f0()\n}\n"
        self.assertEqual(run(files)[0], 0)

    def test_a_list_is_no_verdict(self):
        status, text = run(ring(6), "--list")
        self.assertEqual(status, 0)
        self.assertIn("a circle of 6 files", text)


class Names(unittest.TestCase):
    """Static functions."""

    TEXT = "static int move(void)\n{\n\treturn 0;\n}\n"

    def test_one_name_in_one_file(self):
        self.assertEqual(run({"a.c": self.TEXT, "b.c": "int other(void)\n{\n\treturn 0;\n}\n"})[0], 0)

    def test_one_name_in_two_files(self):
        status, text = run({"a.c": self.TEXT, "sub/b.c": self.TEXT.replace("int ", "struct x *")})
        self.assertEqual(status, 1)
        self.assertIn("move() in a.c and in sub/b.c", text)

    def test_a_static_function_hides_a_global_one(self):
        files = ring(5)
        files["part/x.c"] = "static int f0(void)\n{\n\treturn f1();\n}\nint x(void)\n{\n\treturn f0();\n}\n"
        files["part/2.c"] += "int y(void)\n{\n\treturn x();\n}\n"
        status, text = run(files, "--list")
        self.assertEqual(status, 0)
        self.assertNotIn("part/x.c -> part/0.c", text)


class Arguments(unittest.TestCase):
    """What is not a folder of files."""

    def test_no_file_is_no_success(self):
        self.assertNotEqual(run({"a.h": "int f(void);\n"})[0], 0)


if __name__ == "__main__":
    unittest.main()
