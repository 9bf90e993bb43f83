#!/usr/bin/env python3
"""Holds docs/program.schema.json to the examples and to the cases of the program file's test, and the guide to its example.

usage: program_schema_test.py SOURCE_FOLDER
"""

import json
import pathlib
import sys

import jsonschema


def cases(path):
    """Yields (name, kind, document) of each case; see the head of the file."""
    for block in path.read_text().split("\n== ")[1:]:
        title, _, rest = block.partition("\n")
        name, _, kind = title.rpartition(": ")
        text = rest[: rest.index("\n-> ")]
        if kind == "text":
            continue  # no JSON, or a mistake that a JSON document has no trace of
        if text[0] not in "{[":
            text = '{"wavegate": 1, "name": "case", ' + text + "}"
        yield name, kind, json.loads(text)


def main():
    source = pathlib.Path(sys.argv[1])
    schema = json.loads((source / "docs/program.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)

    failures = []
    examples = sorted((source / "examples").glob("*.json"))
    if not examples:
        failures.append("there are no examples")
    for example in examples:
        for error in validator.iter_errors(json.loads(example.read_text())):
            failures.append(f"{example.name} is refused: {error.json_path}: {error.message}")

    guide = (source / "docs/program-file.md").read_text()
    shown = json.loads(guide.split("```json\n")[1].split("```")[0])
    heat = json.loads((source / "examples/heat.json").read_text())
    del heat["$schema"]
    if shown != heat:
        failures.append("docs/program-file.md shows another examples/heat.json")

    checked = list(cases(source / "tests/io/program_file_cases.txt"))
    if len(checked) < 60:
        failures.append(f"only {len(checked)} cases were found")
    for name, kind, document in checked:
        if validator.is_valid(document) != (kind in ("valid", "meaning")):
            failures.append(f"{name}: the schema {'refuses' if kind in ('valid', 'meaning') else 'accepts'} it")

    print(*failures, sep="\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
