#!/usr/bin/env python3
"""Collects the JSON Schema Test Suite for draft 2020-12 in suite.json.gz.

    git clone https://github.com/json-schema-org/JSON-Schema-Test-Suite
    python3 testdata/jsonschema/make.py JSON-Schema-Test-Suite
"""

import gzip
import json
import pathlib
import sys

folder = pathlib.Path(sys.argv[1]) / "tests" / "draft2020-12"
groups = []
for path in sorted(folder.rglob("*.json")):
    for group in json.loads(path.read_text()):
        tests = [{"name": t["description"], "data": t["data"], "valid": t["valid"]} for t in group["tests"]]
        name = path.relative_to(folder).with_suffix("").as_posix()
        groups.append({"file": name, "name": group["description"], "schema": group["schema"], "tests": tests})
text = json.dumps(groups, separators=(",", ":")).encode()
with open(pathlib.Path(__file__).parent / "suite.json.gz", "wb") as out:
    with gzip.GzipFile(filename="", mode="wb", fileobj=out, mtime=0, compresslevel=9) as z:
        z.write(text)
