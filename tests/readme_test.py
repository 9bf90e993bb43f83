#!/usr/bin/env python3
"""Holds README.md and the other documents to the tree: the C++ example is the one that is built, links lead to files,
and commands, options and make targets that are shown exist.

usage: readme_test.py SOURCE_FOLDER [unittest's arguments]
"""

import pathlib
import re
import sys
import unittest

SOURCE = pathlib.Path()


def blocks(text, language):
    """The contents of the fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


class Readme(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.readme = (SOURCE / "README.md").read_text()
        self.shell = "".join(blocks(self.readme, "sh"))

    def test_shows_the_example_that_is_built(self):
        self.assertEqual(blocks(self.readme, "cpp"), [(SOURCE / "examples/readme.cpp").read_text()])

    def test_the_document_of_amd_s_programs_shows_its_example(self):
        document = (SOURCE / "docs/amd.md").read_text()
        self.assertEqual(blocks(document, "cpp"), [(SOURCE / "examples/emulate.cpp").read_text()])

    def test_names_make_targets_that_exist(self):
        makefile = (SOURCE / "Makefile").read_text()
        targets = re.findall(r"^make ([a-z]+)", self.shell, re.MULTILINE) + re.findall(r"`make ([a-z]+)", self.readme)
        self.assertIn("run", targets)
        for target in targets:
            self.assertRegex(makefile, rf"(?m)^{target}:")

    def test_names_files_that_exist(self):
        names = set(re.findall(r"\bexamples/\w+\.(?:comp|json|cpp)\b", self.readme))
        self.assertGreaterEqual(len(names), 3)
        for name in names:
            self.assertTrue((SOURCE / name).is_file(), name)

    def test_asks_for_packages_of_the_list_alone(self):
        listed = re.findall(r"^(?:run|test|dev) +(\S+)", (SOURCE / "packages.txt").read_text(), re.MULTILINE)
        asked = re.findall(r"apt-get install -y (.+)", self.shell)
        for package in " ".join(asked).split():
            self.assertIn(package, [*listed, "git", "make"])


class Links(unittest.TestCase):
    def test_lead_to_files(self):
        broken = []
        for document in [*SOURCE.glob("*.md"), *SOURCE.glob("docs/*.md")]:
            for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text()):
                if not (document.parent / target).exists():
                    broken.append(f"{document.name}: {target}")
        self.assertEqual(broken, [])

    def test_the_index_names_every_document(self):
        index = (SOURCE / "docs/README.md").read_text()
        missing = [path.name for path in (SOURCE / "docs").iterdir() if path.name != "README.md" and
                   f"({path.name})" not in index]
        self.assertEqual(missing, [])


if __name__ == "__main__":
    SOURCE = pathlib.Path(sys.argv[1]).resolve()
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
