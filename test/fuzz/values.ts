import fc from "fast-check";

import type { Conformance } from "../support/conformance.ts";

/* Values for fields and parameters: as the document describes them, and as it does not. */

type Json = Record<string, unknown>;
type Values = fc.Arbitrary<unknown>;

/** Values that exist in the service, so that calls pass the first checks. */
export interface World {
  /** Addresses of wallets, of collections, and of nothing. */
  addresses: string[];
  wallets: string[];
  collections: string[];
  strings: string[];
}

const RAW = "\u0001raw:";

/** The digits of a number that JavaScript cannot represent. */
function raw(digits: string): string {
  return `${RAW}${digits}`;
}

/** JSON text, with the raw numbers inserted. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value).replace(/"\\u0001raw:([^"]*)"/g, "$1");
}

export const oddText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    "",
    " ",
    "\0",
    "a\0b",
    "\ud800",
    "\udfff\ud800",
    "‮gnitirw", // right to left
    "\u202e\u2066\u200f",
    "Z͑ͫ̓ͪ̂ͫ̽͏",
    "😀".repeat(100),
    "{token_id}".repeat(50),
    "{id}",
    "__proto__",
    "constructor",
    "' OR 1=1 --",
    "../../etc/passwd",
    "<script>",
    "%s%n",
    "\r\nSet-Cookie: a=b",
    "0x",
    "0x" + "0".repeat(40),
    "0x" + "g".repeat(40),
    "0xB397C4963fD6353BE8AFf923B86c0b34f1b77F06",
    "1e3",
    "-1",
    "0x10",
    " 1",
    "1.0",
    "٣", // a digit, but not of ASCII
    "javascript:alert(1)",
    "http://[::1",
    "http://169.254.169.254/",
  ),
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.integer({ min: 1, max: 4_000 }).map((length) => "x".repeat(length)),
  // Lone surrogates.
  fc.array(fc.integer({ min: 0xd700, max: 0xe000 }), { maxLength: 5 }).map((units) => String.fromCharCode(...units)),
);

const NUMBERS = [
  raw("-1"),
  raw("0"),
  raw("-0"),
  raw("1.5"),
  raw("1e2"),
  raw("1E400"),
  raw("-1e999"),
  raw("9007199254740992"),
  raw("9007199254740993.0"),
  raw((2n ** 128n).toString()),
  raw((2n ** 256n - 1n).toString()),
  raw((2n ** 256n).toString()),
  raw("9".repeat(400)),
  raw(`-${"9".repeat(5_000)}`),
];

/** A value of any type. */
export const oddValue: Values = fc.oneof(
  oddText,
  fc.constantFrom(...NUMBERS),
  fc.constantFrom(null, true, false, [], {}, [[]], [null], { $ref: "#" }),
  fc.jsonValue({ maxDepth: 4 }),
  fc.integer({ min: 1, max: 300 }).map(deep),
  fc.maxSafeInteger(),
);

function deep(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

/** A value that mostly fits the schema. */
export function valueOf(conformance: Conformance, schema: Json, world: World): Values {
  const values = (inner: Json) => valueOf(conformance, inner, world);
  if ("$ref" in schema) return values(conformance.resolve(schema as { $ref: string }));
  if (Array.isArray(schema["anyOf"])) return fc.oneof(...(schema["anyOf"] as Json[]).map(values));
  if (Array.isArray(schema["enum"])) return fc.constantFrom(...(schema["enum"] as unknown[]));
  if (Array.isArray(schema["type"])) {
    return fc.oneof(...(schema["type"] as string[]).map((type) => values({ ...schema, type })));
  }
  switch (schema["type"]) {
    case "object":
      return objectOf(conformance, schema, world);
    case "array":
      return fc.array(values((schema["items"] ?? {}) as Json), { maxLength: 4 });
    case "integer":
      return integers(schema);
    case "string":
      return strings(schema, world);
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    default:
      return fc.jsonValue({ maxDepth: 3 });
  }
}

function objectOf(conformance: Conformance, schema: Json, world: World): Values {
  const fields = (schema["properties"] ?? {}) as Record<string, Json>;
  const required = (schema["required"] ?? []) as string[];
  const model = Object.fromEntries(
    Object.entries(fields).map(([name, field]) => {
      const right = valueOf(conformance, field, world);
      return [name, fc.oneof({ weight: 14, arbitrary: right }, { weight: 1, arbitrary: oddValue })];
    }),
  );
  const known = fc.record(model, { requiredKeys: required });
  const strange = fc.dictionary(oddText, oddValue, { minKeys: 1, maxKeys: 2 });
  return fc.oneof(
    { weight: 12, arbitrary: known },
    { weight: 1, arbitrary: fc.record(model, { requiredKeys: [] }) },
    { weight: 1, arbitrary: fc.tuple(known, strange).map(([right, more]) => ({ ...right, ...more })) },
  );
}

function integers(schema: Json): Values {
  const least = Number(schema["minimum"] ?? 0);
  const most = Number(schema["maximum"] ?? Number.MAX_SAFE_INTEGER);
  const edges = [least, Math.min(least + 1, most), most, most - 1];
  return fc.oneof(fc.integer({ min: least, max: Math.min(most, least + 20) }), fc.constantFrom(...edges));
}

function strings(schema: Json, world: World): fc.Arbitrary<string> {
  const pattern = typeof schema["pattern"] === "string" ? schema["pattern"] : "";
  if (pattern.includes("{40}")) return fc.constantFrom(...world.addresses);
  if (pattern.includes("{1,78}")) return fc.bigInt({ min: 0n, max: 2n ** 256n }).map(String);
  const longest = Number(schema["maxLength"] ?? 200);
  return fc.oneof(
    { weight: 4, arbitrary: fc.string({ unit: "grapheme", maxLength: Math.min(longest, 60) }) },
    { weight: 4, arbitrary: fc.constantFrom(...world.strings) },
    { weight: 1, arbitrary: fc.constantFrom("x".repeat(longest), "x".repeat(longest + 1), "é".repeat(longest)) },
  );
}

function isObjects(value: unknown): value is Json[] {
  return Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === "object" && item !== null);
}

/** An example of the document with existing values filled in, and sometimes one invalid field. */
export function likeExample(example: Json, world: World): fc.Arbitrary<Json> {
  const model = Object.fromEntries(
    Object.entries(example).map(([name, value]) => {
      if (isObjects(value)) return [name, fc.tuple(...value.map((item) => likeExample(item, world)))];
      if (name === "token_id") return [name, fc.constantFrom(value, 1, 2, 3, 4, 5)];
      if (typeof value !== "string" || !/^0x[0-9a-fA-F]{40}$/.test(value)) return [name, fc.constant(value)];
      return [name, fc.constantFrom(...(/collection|contract/.test(name) ? world.collections : world.wallets))];
    }),
  );
  const names = Object.keys(example);
  const right: fc.Arbitrary<Json> = fc.record(model);
  if (names.length === 0) return right;
  const odd = fc
    .tuple(right, fc.constantFrom(...names), oddValue)
    .map(([body, name, value]) => ({ ...body, [name]: value }));
  return fc.oneof({ weight: 3, arbitrary: right }, { weight: 1, arbitrary: odd });
}
