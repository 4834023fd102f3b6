"""Calls a running service with nothing but Python and the document that the service publishes.

Usage: BASE_URL=http://... TOKEN=... python3 call-from-document.py
Reads /openapi.json, sends the examples of some operations, and compares each answer with its schema.
Prints one line of JSON for each call.
"""

import json
import os
import re
import time
import urllib.request

BASE, TOKEN = os.environ["MONETA_URL"], os.environ["MONETA_TOKEN"]
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "null": type(None)}


def send(method, path, body=None):
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(BASE + path, data, headers, method=method), timeout=60) as answer:
        return json.load(answer)


def find(operation_id):
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if operation["operationId"] == operation_id:
                return method.upper(), path, operation
    raise LookupError(operation_id)


def resolve(schema):
    while "$ref" in schema:
        target = document
        for part in schema["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        schema = target
    return schema


def fault(schema, value, place):
    """What is wrong with the value, or None."""
    schema = resolve(schema)
    for several in ("anyOf", "oneOf"):
        if several in schema:
            faults = [fault(one, value, place) for one in schema[several]]
            return None if None in faults else faults[0]
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(isinstance(value, TYPES[kind]) for kind in kinds):
        return f"{place} is not {' or '.join(kinds)}: {value!r}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{place} is none of {schema['enum']}: {value!r}"
    if isinstance(value, str) and re.search(schema.get("pattern", ""), value) is None:
        return f"{place} does not match {schema['pattern']}: {value!r}"
    if isinstance(value, dict):
        missing = [name for name in schema.get("required", []) if name not in value]
        unknown = [name for name in value if name not in schema.get("properties", {})]
        if missing or unknown:
            return f"{place} lacks {missing}, and the document does not know {unknown}"
        faults = (fault(schema["properties"][name], part, f"{place}.{name}") for name, part in value.items())
        return next((one for one in faults if one is not None), None)
    return None


def call(operation_id, parameters=None, changes=None):
    """Sends the first example of the operation. Some fields, such as addresses, belong to the app that calls."""
    method, path, operation = find(operation_id)
    for name, value in (parameters or {}).items():
        path = path.replace("{" + name + "}", value)
    body = None
    if "requestBody" in operation:
        examples = operation["requestBody"]["content"]["application/json"]["examples"]
        body = {**next(iter(examples.values()))["value"], **(changes or {})}
    answer = send(method, path, body)
    wrong = fault(operation["responses"]["200"]["content"]["application/json"]["schema"], answer, operation_id)
    if wrong is not None:
        raise SystemExit(wrong)
    return answer


def finished(request_id):
    for _ in range(120):
        request = call("getRequest", {"request_id": request_id})
        if request["status"] in ("completed", "failed"):
            print(json.dumps(request))
            return request
        time.sleep(0.25)
    raise SystemExit(f"request {request_id} is not final")


document = send("GET", "/openapi.json")
wallet = call("createAccount")
print(json.dumps(wallet))
collection = finished(call("createCollection")["request_id"])["nft_collection"]
finished(call("mintNft", changes={"collection_address": collection, "to_address": wallet["address"]})["request_id"])
