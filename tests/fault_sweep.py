#!/usr/bin/env python3
"""Every fault at every system call of the helper's runs; prints the number of injections and of violations.

    tests/fault_sweep.py <teeny-kernel> [--scenario NAME]... [--workers N] [--list]

Exit 1 on a violation, or when a call could not be reached. See e2e/fault_harness.py for what is injected and what must hold.
"""

import argparse
import collections
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent / "e2e"))

from fault_harness import SCENARIOS, Harness, open_directory  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool")
    parser.add_argument("--scenario", action="append", choices=SCENARIOS, help="only this one; repeatable")
    parser.add_argument("--workers", type=int)
    parser.add_argument("--list", action="store_true", help="print the injections and make none")
    options = parser.parse_args()
    with open_directory() as directory:
        harness = Harness(Path(options.tool).resolve(), directory)
        injections = []
        for name in options.scenario or SCENARIOS:
            of_this = harness.injections(SCENARIOS[name])
            print(f"{name}: {len(harness.calls(SCENARIOS[name]))} calls, {len(of_this)} injections", flush=True)
            injections += of_this
        if options.list:
            print(*injections, sep="\n")
            return 0
        begin = time.monotonic()
        violations, unreached = harness.sweep(injections, options.workers, lambda found: print(*found, sep="\n", flush=True))
    kills = sum(injection.fault == "SIGKILL" for injection in injections)
    print(f"{len(injections)} injections ({kills} SIGKILL) in {time.monotonic() - begin:.0f} s:"
          f" {len(violations)} violations, {len(unreached)} calls not reached")  # fmt: skip
    for invariant, count in sorted(collections.Counter(text.split(" ", 1)[0] for text in violations).items()):
        print(f"  {invariant}: {count}")
    for injection in unreached:
        print(f"  not reached: {injection}")
    return 1 if violations or unreached else 0


if __name__ == "__main__":
    sys.exit(main())
