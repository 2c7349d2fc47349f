"""Checks a JSON file against a schema, of which it knows what ours use.

check_schema.py SCHEMA.json FILE.json: of a page of HTML the data in it.
"""

import json
import re
import sys

KNOWN = {"$schema", "title", "description", "type", "required", "additionalProperties", "properties", "items", "enum",
         "const", "minimum", "$ref", "$defs"}
TYPES = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool,
         "null": type(None)}


def is_of(value, name):
    # To Python, True is an integer.
    return isinstance(value, TYPES[name]) and (name == "boolean" or not isinstance(value, bool))


class Schema:
    def __init__(self, root):
        self.root = root

    def check(self, value, schema, path):
        unknown = set(schema) - KNOWN
        if unknown:
            sys.exit(f"{path}: this checker does not know {unknown}")
        if "$ref" in schema:
            self.check(value, self.root["$defs"][schema["$ref"].removeprefix("#/$defs/")], path)
        names = schema.get("type", [])
        names = [names] if isinstance(names, str) else names
        if names and not any(is_of(value, name) for name in names):
            sys.exit(f"{path}: {value!r} is not {' or '.join(names)}")
        if "enum" in schema and value not in schema["enum"]:
            sys.exit(f"{path}: {value!r} is none of {schema['enum']}")
        if "const" in schema and value != schema["const"]:
            sys.exit(f"{path}: {value!r} is not {schema['const']}")
        if "minimum" in schema and value < schema["minimum"]:
            sys.exit(f"{path}: {value} is below {schema['minimum']}")
        if isinstance(value, dict):
            self.check_members(value, schema, path)
        if isinstance(value, list) and "items" in schema:
            for i, item in enumerate(value):
                self.check(item, schema["items"], f"{path}[{i}]")

    def check_members(self, value, schema, path):
        for name in schema.get("required", []):
            if name not in value:
                sys.exit(f"{path}: there is no {name}")
        members = schema.get("properties", {})
        rest = schema.get("additionalProperties", True)
        for name, member in value.items():
            if name in members:
                self.check(member, members[name], f"{path}.{name}")
            elif rest is False:
                sys.exit(f"{path}: the schema has no {name}")
            elif isinstance(rest, dict):
                self.check(member, rest, f"{path}.{name}")


def read(path):
    text = open(path, encoding="utf-8").read()
    if not path.endswith(".html"):
        return json.loads(text)
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    return json.loads(data.group(1))["explanation"]


schema = json.load(open(sys.argv[1], encoding="utf-8"))
Schema(schema).check(read(sys.argv[2]), schema, "$")
print(f"{sys.argv[2].rsplit('/', 1)[-1]}: valid")
