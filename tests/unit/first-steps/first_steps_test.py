#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Answers to mistakes of somebody who has just begun.

usage: first_steps_test.py EXAMPLES RSMPERF FAKE     the directory of compiled examples, and the programs
"""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TREE = Path(__file__).resolve().parents[3]


# Registers a page of the heap, and then one of mmap(): prints both types of status.
REGISTER = """
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <dat/udat.h>

static DAT_IA_HANDLE ia;
static DAT_PZ_HANDLE pz;

static unsigned int register_page(void *memory)
{
	DAT_REGION_DESCRIPTION region = { .for_va = memory };

	return DAT_GET_TYPE(dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, 4096, pz, DAT_MEM_PRIV_ALL_FLAG,
					   NULL, NULL, NULL, NULL, NULL));
}

int main(void)
{
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;

	if (dat_ia_open("rsm0", 8, &async, &ia) != DAT_SUCCESS || dat_pz_create(ia, &pz) != DAT_SUCCESS)
		return 1;
	for (int each = 0; each < 2; each++)
		printf("%#x ", register_page(aligned_alloc(4096, 4096)));
	printf("%#x\\n", register_page(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)));
	return 0;
}
"""


def run(*words):
    """Its output goes through a pipe, which ends when all processes that it has started have ended."""
    return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


@unittest.skipIf(os.path.exists("/dev/rsm"), "rsm.ko is loaded")
class WithoutTheModule(unittest.TestCase):
    """Programs end, and say why."""

    def test_examples_of_two_processes_end(self):
        for name in ("events", "hangup"):
            with self.subTest(name):
                answer = run(EXAMPLES / name)
                self.assertEqual(answer.returncode, 1)
                self.assertIn("/dev/rsm cannot be opened", answer.stderr)

    def test_demo_programs_know_their_usage(self):
        for name in ("demo-exporter", "demo-importer"):
            with self.subTest(name):
                answer = run(EXAMPLES / name, "--help")
                self.assertEqual(answer.returncode, 2)
                self.assertIn(f"usage: {name}", answer.stderr)

    def test_rsmperf_says_it_once(self):
        answer = run(RSMPERF)
        self.assertEqual((answer.returncode, answer.stdout), (2, ""))
        self.assertEqual(len(answer.stderr.splitlines()), 1, answer.stderr)
        self.assertIn("/dev/rsm: No such file or directory", answer.stderr)


class Usage(unittest.TestCase):
    """What is asked of programs that need no module for the answer."""

    def test_rsmperf_has_one_status_for_wrong_arguments(self):
        for words in (("--processes", "many"), ("--processes", "0"), ("--nothing",), ("--only", "nothing")):
            with self.subTest(words):
                self.assertEqual(run(RSMPERF, *words).returncode, 2)
        self.assertEqual(run(RSMPERF, "--help").returncode, 0)

    def test_rsmperf_knows_what_native_leaves_out(self):
        answer = run(RSMPERF, "--native", "--only", "connect")
        self.assertEqual(answer.returncode, 2)
        self.assertIn("--native leaves out figures that need the kernel", answer.stderr)

    def test_rsmperf_names_the_missing_adapter_once(self):
        answer = run("env", "DAT_OVERRIDE=/nowhere/dat.conf", RSMPERF, "--native", "--dat")
        self.assertEqual((answer.returncode, answer.stdout), (2, ""))
        self.assertEqual(answer.stderr.count("no usable adapter rsm0 in /etc/dat/dat.conf"), 1, answer.stderr)

    def test_rsm_fake_has_help(self):
        answer = run(FAKE, "--help")
        self.assertEqual((answer.returncode, answer.stderr), (0, ""))
        self.assertTrue(answer.stdout.startswith("usage: rsm-fake"), answer.stdout)
        self.assertEqual(run(FAKE).returncode, 2)


class OverTheFake(unittest.TestCase):
    """What the quick start says of programs without an installation and without a virtual machine."""

    def test_a_program_of_the_quick_start_runs(self):
        library = FAKE.parents[2] / "librsm"
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder, "hello")
            subprocess.run(["cc", "-o", program, "-Ilib/librsm/include", "-Iinclude/uapi", "examples/hello.c",
                            f"-L{library}", "-lrsm"], cwd=TREE, check=True)
            answer = run("env", f"LD_LIBRARY_PATH={library}", FAKE, program)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertRegex(answer.stdout, r"segment 0x[0-9a-f]+ holds 42")

    def test_a_provider_names_the_parameter_that_it_does_not_know(self):
        answer = self.register_memory('rsm0 u1.2 threadsafe default libdaplrsm.so.1 rsm.1.0 "contoller=loopback" ""\n')
        self.assertEqual(answer.returncode, 1)
        self.assertIn("rsm0: dat.conf has an unknown or invalid parameter: contoller=loopback\n", answer.stderr)

    @staticmethod
    def register_memory(configuration):
        library = FAKE.parents[2] / "libdat"
        with tempfile.TemporaryDirectory() as folder:
            program, source, file = (Path(folder, name) for name in ("prog", "prog.c", "dat.conf"))
            source.write_text(REGISTER)
            file.write_text(configuration)
            subprocess.run(["cc", "-o", program, "-Ilib/libdat/include", source, f"-L{library}", "-ldat"],
                           cwd=TREE, check=True)
            return run("env", f"DAT_OVERRIDE={file}", f"LD_LIBRARY_PATH={library}", FAKE, program)

    def test_a_program_of_udapl_runs_and_hears_once_which_memory_the_fake_takes(self):
        answer = self.register_memory((TREE / "packaging/dat.conf").read_text())
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertEqual(answer.stdout, "0x30000 0x30000 0\n")
        self.assertEqual(answer.stderr.count("use private memory of mmap()"), 1, answer.stderr)


class Installing(unittest.TestCase):
    """tools/install-deps"""

    def test_has_help(self):
        answer = run(TREE / "tools/install-deps", "--help")
        self.assertEqual(answer.returncode, 0)
        self.assertTrue(answer.stdout.startswith("usage: tools/install-deps"), answer.stdout)

    def test_names_the_groups(self):
        answer = run(TREE / "tools/install-deps", "bulid")
        self.assertEqual(answer.returncode, 2)
        self.assertRegex(answer.stderr, "no group bulid; the groups: build run .*docs")


if __name__ == "__main__":
    EXAMPLES, RSMPERF, FAKE = map(Path, sys.argv[1:4])
    unittest.main(argv=sys.argv[:1])
