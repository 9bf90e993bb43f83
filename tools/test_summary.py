#!/usr/bin/env python3
"""Adds up the results that ctest and Node's test runner wrote as JUnit files: a line for each file, the names of what failed, and a
closing line `N passed, N failed`.

usage: test_summary.py NAME=RESULTS.xml ...

Exits with 1 if a test failed, a file is missing, or nothing passed.
"""

import sys
import xml.etree.ElementTree as ElementTree


def outcome(case):
    """"passed", "failed" or "skipped". A test whose program is missing has failed: ctest gives it another status. Node
    gives none, but what went wrong."""
    if case.get("status") == "run":
        return "passed"
    if case.get("status") is None:
        return "failed" if case.find("failure") is not None else "skipped" if case.find("skipped") is not None else "passed"
    skipped = case.find("skipped")
    if skipped is not None and skipped.get("message", "").startswith("SKIP_"):
        return "skipped"
    return "failed"


def main():
    total = {"passed": 0, "failed": 0, "skipped": 0}
    for argument in sys.argv[1:]:
        name, _, path = argument.partition("=")
        try:
            cases = list(ElementTree.parse(path).getroot().iter("testcase"))
        except (OSError, ElementTree.ParseError) as error:
            print(f"{name}: no results: {error}")
            total["failed"] += 1
            continue
        count = {"passed": 0, "failed": 0, "skipped": 0}
        for case in cases:
            result = outcome(case)
            count[result] += 1
            total[result] += 1
            if result != "passed":
                print(f"{name}: {result}: {case.get('name')}")
        print(f"{name}: " + ", ".join(f"{number} {word}" for word, number in count.items()))
    closing = f"{total['passed']} passed, {total['failed']} failed"
    if total["skipped"]:
        closing += f", {total['skipped']} skipped"
    print(closing)
    return 1 if total["failed"] or not total["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
