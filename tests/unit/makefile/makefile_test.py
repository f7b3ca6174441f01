#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The Makefile refuses some variables, and "make clean" removes nothing but builds."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

TREE = Path(__file__).resolve().parents[3]
LEFT_OUT = ("BUILD", "RSM_BUILD", "RSM_CACHE", "XDG_CACHE_HOME", "CCACHE_DIR", "CCACHE_MAXSIZE", "PREFIX",
            "DESTDIR", "GNUMAKEFLAGS", "MAKEFLAGS",
            "MAKELEVEL", "MFLAGS")
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in LEFT_OUT} | {"HOME": "/tmp"}

# Prints the directory and the limit of ccache where tools/build-modules runs it, as the launcher has them.
MODULES = """
import os
from rsmvm.build_modules import cache_of_objects
found = os.environ | cache_of_objects()
print(*(f"{name}={found[name]};" for name in ("CCACHE_DIR", "CCACHE_MAXSIZE") if name in found), sep="", end="")
"""


def make(*arguments, **environment):
    """Runs make in the tree."""
    return subprocess.run(["make", "-C", TREE, "--no-print-directory", *arguments],
                          env=ENVIRONMENT | environment, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, check=False)


class Refusals(unittest.TestCase):
    """Variables that would name other paths than the caller means."""

    def refuses(self, words, *arguments, **environment):
        """No target, not even help, works."""
        answer = make("help", *arguments, **environment)
        self.assertEqual(answer.returncode, 2, answer.stdout)
        self.assertIn(words, answer.stderr)

    def test_blanks_and_semicolons(self):
        for variable in ("BUILD", "PREFIX", "DESTDIR"):
            for value in ("/tmp/a b", "/tmp/a;b", "/tmp/a "):
                with self.subTest(variable=variable, value=value):
                    self.refuses("with a blank or a semicolon", f"{variable}={value}")
        self.refuses("with a blank or a semicolon", RSM_BUILD="/tmp/a b")

    def test_no_build_directory(self):
        self.refuses("BUILD is empty", "BUILD=")


class Clean(unittest.TestCase):
    """Removes what was built, and nothing else that BUILD names."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.build = Path(directory.name) / "build"
        self.build.mkdir()
        (self.build / "something").touch()

    def clean(self):
        """Whether "make clean" succeeds."""
        return make("clean", f"BUILD={self.build}")

    def test_what_cmake_has_built(self):
        (self.build / "CMakeCache.txt").write_text("CMAKE_PROJECT_NAME:STATIC=rsm\n")
        self.assertEqual(self.clean().returncode, 0)
        self.assertFalse(self.build.exists())

    def test_modules(self):
        (self.build / "modules/6.1.0-56-amd64").mkdir(parents=True)
        (self.build / "modules/6.1.0-56-amd64/.lock").touch()
        self.assertEqual(self.clean().returncode, 0)
        self.assertFalse(self.build.exists())

    def test_no_directory_that_another_path_leads_to(self):
        """A ".." leads out of a link's target, and make takes it for the link's own."""
        target = self.build.parent / "elsewhere/inside"
        target.mkdir(parents=True)
        other = target.parent / "build"
        other.mkdir()
        (self.build / "CMakeCache.txt").write_text("CMAKE_PROJECT_NAME:STATIC=rsm\n")
        (self.build.parent / "link").symlink_to(target)
        self.assertEqual(make("clean", f"BUILD={self.build.parent}/link/../build").returncode, 0)
        self.assertTrue(other.exists())
        self.assertFalse(self.build.exists())

    def test_nothing(self):
        (self.build / "something").unlink()
        self.build.rmdir()
        self.assertEqual(self.clean().returncode, 0)

    def test_not_what_others_have_made(self):
        (self.build / "CMakeCache.txt").write_text("CMAKE_PROJECT_NAME:STATIC=another\n")
        answer = self.clean()
        self.assertEqual(answer.returncode, 2)
        self.assertIn("holds no build of this project", answer.stdout + answer.stderr)
        self.assertTrue((self.build / "something").exists())

    def test_not_the_tree_or_what_is_around_it(self):
        link = self.build / "link"
        link.symlink_to(TREE)
        for build in (TREE, TREE.parent, TREE / "tests/..", link, f"{link}/", "/"):
            with self.subTest(build=build):
                # Should the Makefile forget to refuse, nothing is lost: rm is only printed.
                answer = make("-n", "clean", f"BUILD={build}")
                check = answer.stdout.rsplit("rm -rf", maxsplit=1)[0]
                answer = subprocess.run(["sh", "-c", check], capture_output=True, text=True, check=False)
                self.assertEqual(answer.returncode, 2, check)
                self.assertIn("is the source tree, or around it", answer.stdout)


class Ccache(unittest.TestCase):
    """Where it is installed, and where not: CCACHE names any program."""

    def launcher(self, *arguments, **environment):
        """The commands, with those that start the compiler."""
        answer = make("-n", "lib", "CCACHE=/usr/bin/ccache", *arguments, **environment)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return answer.stdout

    def test_has_a_limit_in_its_usual_place(self):
        self.assertIn("CCACHE_MAXSIZE=2G;", self.launcher())
        self.assertIn("CCACHE_MAXSIZE=3G;", self.launcher(CCACHE_MAXSIZE="3G"))

    def test_keeps_the_limit_of_a_directory_that_the_caller_names(self):
        text = self.launcher(CCACHE_DIR="/tmp/other")
        self.assertIn("CCACHE_DIR=/tmp/other;", text)
        self.assertNotIn("CCACHE_MAXSIZE", text)
        self.assertIn("CCACHE_MAXSIZE=3G;", self.launcher(CCACHE_DIR="/tmp/other", CCACHE_MAXSIZE="3G"))

    def test_says_that_it_is_not_used(self):
        for place in ("/etc/passwd/ccache", "relative", "/tmp/a;b"):
            with self.subTest(place=place):
                text = self.launcher(CCACHE_DIR=place)
                self.assertIn("compiling without ccache", text)
                self.assertNotIn("CCACHE_BASEDIR", text)
        self.assertNotIn("compiling without ccache", self.launcher())

    def test_is_the_one_of_the_modules(self):
        for environment in ({}, {"CCACHE_DIR": "/tmp/other"}, {"CCACHE_MAXSIZE": "3G"}):
            with self.subTest(**environment), tempfile.TemporaryDirectory() as cache:
                places = environment | {"RSM_CACHE": cache}
                modules = subprocess.run(["/usr/bin/python3", "-B", "-c", MODULES], env=ENVIRONMENT | places,
                                         cwd=TREE / "tools", capture_output=True, text=True, check=True)
                self.assertIn(modules.stdout, self.launcher(**places))


if __name__ == "__main__":
    unittest.main()
