import fc from "fast-check";

import type { Conformance, Operation, Parameter } from "../support/conformance.ts";
import {
  accepted,
  type Callers,
  callerHeaders,
  contentType,
  eventPlace,
  headerText,
  idempotencyKey,
} from "./headers.ts";
import type { FuzzCall } from "./send.ts";
import { fileBody, fileType } from "./files.ts";
import { jsonText, likeExample, oddText, oddValue, valueOf, type World } from "./values.ts";

/* Calls generated from the document. They are mostly valid, so that they pass the first checks, and invalid in one place. */

const MB = 1_048_576;

/** A call of any operation. */
export function anyCall(conformance: Conformance, world: World, callers: Callers): fc.Arbitrary<FuzzCall> {
  const calls = Object.entries(conformance.document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      // Bodies offer the most ways to be invalid.
      weight: operation.requestBody === undefined ? 1 : 3,
      arbitrary: callOf(conformance, world, callers, path, method, operation),
    })),
  );
  return fc.oneof(...calls);
}

function callOf(
  conformance: Conformance,
  world: World,
  callers: Callers,
  path: string,
  method: string,
  operation: Operation,
): fc.Arbitrary<FuzzCall> {
  const parameters = (operation.parameters ?? []).map((parameter) => conformance.resolve<Parameter>(parameter));
  const schema = operation.requestBody?.content["application/json"]?.schema;
  const takesFile = operation.requestBody?.content["application/octet-stream"] !== undefined;
  const headersOf = parameters.filter((parameter) => parameter.in === "header").map(({ name }) => name);
  const takesKey = headersOf.includes("Idempotency-Key");
  const streams = headersOf.includes("Last-Event-ID");
  const exports = path.startsWith("/v1/exports/");
  return fc
    .record({
      method: fc.oneof(
        { weight: 20, arbitrary: fc.constant(method.toUpperCase()) },
        { weight: 1, arbitrary: anyMethod },
      ),
      path: pathOf(path, world),
      query: queryOf(conformance, world, parameters),
      body: takesFile ? fileBody : schema === undefined ? rarely(anyBody) : bodyOf(conformance, operation, world),
      type: takesFile ? fc.oneof(fileType, contentType) : contentType,
      encoding: rarely(fc.constantFrom("gzip", "br", "deflate", "identity", "rot13", "gzip, gzip"), 40),
      chunked: rarely(fc.constant("chunked"), 10),
      key: takesKey ? rarely(idempotencyKey, 4) : fc.constant(null),
      accept: streams || exports ? rarely(accepted, 1) : fc.constant(null),
      place: streams ? rarely(fc.oneof(fc.constant("start"), eventPlace, headerText), 2) : fc.constant(null),
      caller: callerHeaders(callers, isForSessions(operation)),
      id: rarely(headerText, 8),
    })
    .map((parts) => {
      const headers: Record<string, string> = { ...parts.caller };
      if (parts.key !== null) headers["idempotency-key"] = parts.key;
      if (parts.accept !== null) headers["accept"] = parts.accept;
      if (parts.place !== null) headers["last-event-id"] = parts.place;
      if (parts.id !== null) headers["x-request-id"] = parts.id;
      if (parts.body !== null) {
        if (parts.type !== null) headers["content-type"] = parts.type;
        if (parts.encoding !== null) headers["content-encoding"] = parts.encoding;
        if (parts.chunked !== null) headers["transfer-encoding"] = parts.chunked;
        else headers["content-length"] = parts.body.length.toString();
      }
      const origin = `${method.toUpperCase()} ${path}`;
      return { origin, method: parts.method, path: parts.path + parts.query, headers, body: parts.body };
    });
}

/** Whether the operation is not for tokens. Signing in counts too: it needs the headers of the console's page. */
function isForSessions({ operationId, security = [] }: Operation): boolean {
  if (operationId === "createConsoleSession") return true;
  return security.length > 0 && !security.some((one) => "token" in one);
}

/** The value once in so many times and once more, else null. */
function rarely<T>(arbitrary: fc.Arbitrary<T>, weight = 15): fc.Arbitrary<T | null> {
  return fc.oneof({ weight, arbitrary: fc.constant(null) }, { weight: 1, arbitrary });
}

const anyMethod = fc.constantFrom(
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "PATCH",
  "DELETE",
  "OPTIONS",
  "TRACE",
  "PROPFIND",
  "QUERY",
);

/** Percent-encoded UTF-8. A lone surrogate becomes the bytes that it would have. */
function escaped(text: string): string {
  return Array.from(text, (character) => {
    const code = character.codePointAt(0) ?? 0;
    if (code < 0xd800 || code > 0xdfff) return encodeURIComponent(character);
    return [0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f)]
      .map((byte) => `%${byte.toString(16)}`)
      .join("");
  }).join("");
}

/** Existing values for a path parameter. */
function placeOf(part: string, world: World): fc.Arbitrary<string> {
  switch (part) {
    case "{address}":
    case "{contract_address}":
    case "{collection}":
      return fc.constantFrom(...world.addresses);
    case "{token_id}":
      return fc.nat({ max: 7 }).map(String);
    default:
      return fc.constantFrom(...world.strings);
  }
}

function pathOf(template: string, world: World): fc.Arbitrary<string> {
  const parts = template.split(/(\{[a-z_]+\})/).map((part) => {
    if (!part.startsWith("{")) return fc.constant(part);
    const known = placeOf(part, world);
    return fc.oneof(
      { weight: 12, arbitrary: known.map(escaped) },
      { weight: 2, arbitrary: oddText.map(escaped) },
      {
        weight: 1,
        arbitrary: fc.constantFrom("%", "%zz", "%ff", "%00", "%2e%2e%2f", "%ED%A0%80", ";a=b", "a".repeat(9_000)),
      },
    );
  });
  const right = fc.tuple(...parts).map((texts) => texts.join(""));
  return fc.oneof(
    { weight: 60, arbitrary: right },
    { weight: 1, arbitrary: right.map((path) => `${path}/`) },
    { weight: 1, arbitrary: right.map((path) => path.replaceAll("/", "//")) },
    { weight: 1, arbitrary: right.map((path) => path.toUpperCase()) },
    { weight: 1, arbitrary: right.map((path) => `${path}/${"y".repeat(20_000)}`) },
    { weight: 1, arbitrary: oddText.map((text) => `/v1/${escaped(text)}`) },
  );
}

function queryOf(conformance: Conformance, world: World, parameters: Parameter[]): fc.Arbitrary<string> {
  const known = parameters
    .filter((parameter) => parameter.in === "query")
    .map(({ name, schema }) => {
      const right = valueOf(conformance, schema, world).map(String);
      const value = fc.oneof({ weight: 6, arbitrary: right }, { weight: 1, arbitrary: oddText });
      return fc.tuple(fc.constantFrom(name, name, name, `${name}[]`, `${name}[a]`), value);
    });
  const strange = fc.tuple(oddText, oddText);
  const pair = fc.oneof(...known.map((arbitrary) => ({ weight: 5, arbitrary })), { weight: 1, arbitrary: strange });
  const pairs = fc
    .array(pair, { maxLength: 3 })
    .map((given) => given.map(([name, value]) => `${escaped(name)}=${escaped(value)}`).join("&"));
  return fc.oneof(
    { weight: 12, arbitrary: fc.constant("") },
    { weight: known.length === 0 ? 1 : 12, arbitrary: pairs.map((text) => (text === "" ? "" : `?${text}`)) },
    {
      weight: 1,
      arbitrary: fc.constantFrom("?", "?&&=", "?%", "?=%ff", "?a".repeat(2_000), "?__proto__[x]=1", "?limit=1#x"),
    },
  );
}

/** The UTF-8 bytes of a text, one character per byte. */
function bytes(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

function bodyOf(conformance: Conformance, operation: Operation, world: World): fc.Arbitrary<string | null> {
  const { schema = {}, examples = {} } = operation.requestBody?.content["application/json"] ?? {};
  const samples = Object.values(examples).map(({ value }) => likeExample(value as Record<string, unknown>, world));
  const right = fc.oneof(...samples, ...samples, valueOf(conformance, schema, world)).map(jsonText);
  return fc.oneof(
    { weight: 30, arbitrary: right.map(bytes) },
    { weight: 2, arbitrary: fc.tuple(right, oddValue).map(([text, value]) => bytes(doubled(text, value))) },
    {
      weight: 1,
      arbitrary: fc.tuple(right, fc.nat()).map(([text, at]) => bytes(text.slice(0, at % (text.length + 1)))),
    },
    { weight: 3, arbitrary: anyBody },
    { weight: 1, arbitrary: fc.constant(null) },
  );
}

/** Repeats the first field with another value. */
function doubled(text: string, value: unknown): string {
  const [, name] = /^\{("(?:[^"\\]|\\.)*"):/.exec(text) ?? [];
  return name === undefined ? text : `${text.slice(0, -1)},${name}:${jsonText(value)}}`;
}

const anyBody: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: oddValue.map((value) => bytes(jsonText(value))) },
  { weight: 3, arbitrary: oddText.map(bytes) },
  { weight: 3, arbitrary: fc.uint8Array({ maxLength: 60 }).map((array) => Buffer.from(array).toString("latin1")) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.integer({ min: 100, max: 100_000 }), fc.boolean())
      .map(([levels, ends]) => `{"attributes":${"[".repeat(levels)}${ends ? "]".repeat(levels) : ""}}`),
  },
  {
    weight: 1,
    arbitrary: fc.integer({ min: MB - 100, max: MB + 100 }).map((length) => `{"name":"${"x".repeat(length - 11)}"}`),
  },
);
