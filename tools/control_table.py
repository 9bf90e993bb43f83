#!/usr/bin/env python3
"""The tables of docs/performance.md from what a benchmark of control flow prints with --json.

    wavegate-bench-control --json > control.json; tools/control_table.py control.json
    node web/bench/control.js --json > browser.json; tools/control_table.py browser.json
"""

import json
import sys

STRATEGIES = ["direct", "default", "gate", "fused-gate", "chained-gate", "producer", "early-out", "chunked",
              "predication", "resident", "host-polled"]


def columns(full):
    """Heading, and what the rows of a column have in common."""
    result = [(name, dict(kernels=kernels, needed=full)) for name, kernels in (("1 kernel", 1), ("4", 4), ("8", 8))]
    result += [(f"{kernels}, exit at {share} %", dict(kernels=kernels, needed=full * share // 100))
               for kernels, share in ((1, 50), (1, 10), (1, 1), (8, 1))]
    result += [(name, dict(kernels=1, needed=full, nesting=nesting))
               for name, nesting in (("1, nest of 2", 2), ("of 3", 3), ("of 4", 4))]
    result += [(name, dict(kernels=kernels, needed=full * share // 100, workgroups=256)) for name, kernels, share in
               (("1, wide", 1, 100), ("4, wide", 4, 100), ("8, wide", 8, 100), ("1, wide, exit at 1 %", 1, 1),
                ("8, wide, exit at 1 %", 8, 1))]
    return [(name, dict(dict(nesting=1, workgroups=1), **wanted)) for name, wanted in result]


def normal(row):
    """A row in one form, whichever benchmark it comes from."""
    return {"nesting": 1, "as_a_page": False, "opaque": row.get("own", False),
            "microseconds_per_iteration": row.get("microsecondsPerIteration"),
            "ratio_to_direct": row.get("ratio"), **row}


def cell(rows, strategy, as_a_page, wanted, full):
    bounds = (wanted["needed"], full) if strategy == "direct" else (full,)
    for row in rows:
        if (row["strategy"], row["as_a_page"]) != (strategy, as_a_page) or row["opaque"] or row["bound"] not in bounds:
            continue
        if any(row[key] != value for key, value in wanted.items()):
            continue
        if row["microseconds_per_iteration"] is None:
            return "-"
        chosen = f" ({row['chosen']})" if strategy == "default" else ""
        return f"{row['microseconds_per_iteration']:.2f}{chosen}"
    return ""


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        document = json.load(file)
    rows = [normal(row) for row in document["rows"]]
    full = rows[0]["needed"]
    lines = [(name, name, False) for name in STRATEGIES]
    lines += [(f"{name}, as a page pays", name, True) for name in ("default", "gate")]
    table = [(label, [cell(rows, strategy, page, wanted, full) for _, wanted in columns(full)])
             for label, strategy, page in lines]
    table = [(label, cells) for label, cells in table if any(text not in ("", "-") for text in cells)]
    kept = [i for i in range(len(columns(full))) if any(cells[i] for _, cells in table)]
    print(document["device"], "\n")
    print("| | " + " | ".join(columns(full)[i][0] for i in kept) + " |")
    print("|---|" + "---|" * len(kept))
    for label, cells in table:
        print(f"| {label} | " + " | ".join(cells[i] for i in kept) + " |")
    own = [f"{row['strategy']} {row['microseconds_per_iteration']:.2f} ({row['ratio_to_direct']:.2f})"
           for row in rows if row["opaque"] and row["microseconds_per_iteration"] is not None]
    print("\nA body of 8 kernels that is a shader of the user's own, in the same run (ratio to direct): " +
          ", ".join(own) + ".\n")
    print("| measure | value | target | |\n|---|---|---|---|")
    for target in document["targets"]:
        at_least = target.get("at_least", target.get("atLeast"))
        at_most = target.get("at_most", target.get("atMost"))
        aim = f"<= {at_most:.2f}" if at_least is None else f">= {at_least:.2f}"
        print(f"| {target['measure']} | {target['value']:.2f} | {aim} | "
              f"{'reached' if target['reached'] else '**missed**'} |")


main()
