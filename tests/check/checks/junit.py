# SPDX-License-Identifier: GPL-2.0
"""The results as JUnit XML, which CI systems read."""

import re
import xml.etree.ElementTree as ET

# Characters that XML 1.0 cannot hold.
FORBIDDEN = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd]")


def _suite(run):
    count = run.counter.count
    suite = ET.Element("testsuite", name=run.stage.name, tests=str(len(run.counter.cases)),
                       failures=str(count("failed")), skipped=str(count("skipped")),
                       time=f"{run.seconds:.3f}")
    for case in run.counter.cases:
        element = ET.SubElement(suite, "testcase", classname=run.stage.name,
                                name=FORBIDDEN.sub("?", case.name), time=f"{case.seconds:.3f}")
        if case.verdict != "passed":
            tag = "failure" if case.verdict == "failed" else "skipped"
            text = FORBIDDEN.sub("?", "\n".join(case.detail))
            ET.SubElement(element, tag, message=text.partition("\n")[0]).text = text
    return suite


def write(path, runs):
    """One <testsuite> for each stage."""
    root = ET.Element("testsuites")
    root.extend(_suite(run) for run in runs)
    ET.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)
