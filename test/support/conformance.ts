import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";

/* Checks the service's answers against the document that it publishes. */

/** A call and its answer, as sent over the wire. */
export interface Exchange {
  method: string;
  /** With its query. */
  path: string;
  status: number;
  headers: Headers;
  text: string;
}

type Json = Record<string, unknown>;
interface Reference {
  $ref: string;
}
interface Answered {
  headers?: Record<string, Header | Reference>;
  content?: Record<string, { schema: Json }>;
}
interface Header {
  required?: boolean;
}
export interface Operation {
  operationId?: string;
  security?: Record<string, string[]>[];
  parameters?: (Parameter | Reference)[];
  requestBody?: {
    required?: boolean;
    content: Record<string, { schema: Json; examples?: Record<string, { value: unknown }> }>;
  };
  responses: Record<string, Answered | Reference>;
}
export interface Parameter {
  in: "path" | "query" | "header";
  name: string;
  required?: boolean;
  schema: Json;
}
export interface OpenApiDocument {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Json> } & Record<
    "headers" | "responses" | "parameters",
    Record<string, unknown>
  >;
}

/* The error codes outside of any operation, as the document's description lists them. */

/** What any call with a session may be answered: its page or its app is wrong. */
const OF_SESSIONS = ["forbidden", "validation_failed"];
const NO_SUCH_PATH = [...OF_SESSIONS, "not_found", "unauthorized", "rate_limited", "payload_too_large"];
const NO_SUCH_METHOD = [...OF_SESSIONS, "method_not_allowed", "unauthorized", "rate_limited", "payload_too_large"];

export class NotAsDocumented extends Error {
  override readonly name = "NotAsDocumented";
}

export class Conformance {
  readonly document: OpenApiDocument;
  readonly #paths: { template: string; pattern: RegExp; operations: Record<string, Operation> }[];
  readonly #definitions: Json;
  readonly #ajv = new Ajv2020({
    allErrors: true,
    allowUnionTypes: true,
    formats: { "date-time": true, date: true },
    // The largest value in bytes of JSON, which no keyword of JSON Schema can express.
    keywords: ["x-max-bytes"],
  });
  readonly #validators = new WeakMap<Json, ValidateFunction>();

  constructor(document: OpenApiDocument) {
    this.document = document;
    this.#paths = Object.entries(document.paths).map(([template, operations]) => ({
      template,
      pattern: patternOf(template),
      operations,
    }));
    this.#definitions = close(document.components.schemas) as Json;
  }

  /** The document's path for a real path: the first one that matches and supports the method. */
  find(path: string, method = "GET"): { template: string; operation: Operation | undefined } | undefined {
    const route = path.split("?")[0] ?? "";
    const operationIn = (operations: Record<string, Operation>) =>
      operations[method.toLowerCase()] ?? (method === "HEAD" ? operations["get"] : undefined);
    const matching = this.#paths.filter(({ pattern }) => pattern.test(route));
    const found = matching.find(({ operations }) => operationIn(operations) !== undefined) ?? matching[0];
    return found === undefined ? undefined : { template: found.template, operation: operationIn(found.operations) };
  }

  /** @throws NotAsDocumented when a path, method, status, header, content type, field or code is not in the document. */
  check(exchange: Exchange): void {
    const { method, path, status, headers, text } = exchange;
    const fail = (why: string): never => {
      throw new NotAsDocumented(`${method} ${path.slice(0, 200)} answered ${status}: ${why}: ${text.slice(0, 500)}`);
    };
    const found = this.find(path, method);
    const operation = found?.operation;
    if (found === undefined || operation === undefined) {
      const allowed = found === undefined || isBroken(path) ? NO_SUCH_PATH : NO_SUCH_METHOD;
      if (method !== "HEAD" && !allowed.includes(codeOf(text))) fail("the document has no such call");
      return;
    }
    const documented = operation.responses[status.toString()];
    if (documented === undefined) return fail("the document has no such status");
    const response = this.resolve<Answered>(documented);
    for (const [header, described] of Object.entries(response.headers ?? {})) {
      if (this.resolve<Header>(described).required === true && !headers.has(header)) fail(`it lacks ${header}`);
    }
    if (method === "HEAD") return;
    if (response.content === undefined) {
      if (text !== "") fail("the document has no body");
      return;
    }
    const type = (headers.get("content-type") ?? "").split(";")[0] ?? "";
    const content = response.content[type];
    // Bytes of any type are as they are.
    if (content === undefined && "*/*" in response.content) return;
    if (content === undefined) return fail(`the document has no ${type}`);
    const values =
      type === "application/json" ? [text] : type === "application/x-ndjson" ? text.split("\n").slice(0, -1) : [];
    for (const value of values) {
      const wrong = this.errorsOf(content.schema, JSON.parse(value));
      if (wrong !== null) fail(wrong);
    }
  }

  /** Why the value does not match the schema or has an undocumented field; null when it matches. */
  errorsOf(schema: Json, value: unknown): string | null {
    let validate = this.#validators.get(schema);
    if (validate === undefined) {
      validate = this.#ajv.compile({ ...(close(schema) as Json), $defs: this.#definitions });
      this.#validators.set(schema, validate);
    }
    return validate(value) ? null : this.#ajv.errorsText(validate.errors);
  }

  resolve<T extends object>(value: T | Reference): T {
    if (!("$ref" in value)) return value;
    const parts = value.$ref.split("/").slice(1);
    return parts.reduce<unknown>((at, part) => (at as Json)[part], this.document) as T;
  }
}

/** `{path}` matches several segments, as its description says. OpenAPI cannot express that. */
function patternOf(template: string): RegExp {
  const text = template
    .replaceAll(".", "\\.")
    .replace("{path}", ".+")
    .replace(/\{[a-z_]+\}/g, "[^/]+");
  return new RegExp(`^${text}/?$`, "i");
}

/** A path with a malformed percent-escape is answered with 404, whatever the method. */
function isBroken(path: string): boolean {
  try {
    decodeURIComponent(path.split("?")[0] ?? "");
    return false;
  } catch {
    return true;
  }
}

function codeOf(text: string): string {
  try {
    return String((JSON.parse(text) as { error_code?: unknown }).error_code);
  } catch {
    return "";
  }
}

/**
 * The schema without unknown fields. The published schema allows them in answers, so that later versions can add
 * fields. In a test, an undocumented field is a mistake.
 */
function close(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(close);
  if (typeof value !== "object" || value === null) return value;
  const closed = Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !["example", "examples"].includes(key))
      .map(([key, child]) => [
        key,
        key === "$ref" && typeof child === "string" ? child.replace("#/components/schemas/", "#/$defs/") : close(child),
      ]),
  );
  const isOpen = "properties" in closed && "type" in closed && !("additionalProperties" in closed);
  return isOpen ? { ...closed, additionalProperties: false } : closed;
}

const known = new Map<string, Conformance>();

/** The document of a running service. */
export async function conformanceOf(baseUrl: string): Promise<Conformance> {
  const response = await fetch(`${baseUrl}/openapi.json`);
  const text = await response.text();
  // Many services of one test run publish the same document, so its validators are compiled once.
  let conformance = known.get(text);
  if (conformance === undefined) {
    conformance = new Conformance(JSON.parse(text) as OpenApiDocument);
    known.set(text, conformance);
  }
  return conformance;
}

const published = new Map<string, Promise<Conformance>>();

/** As above, for a service whose document follows from these settings: the first one publishes that of all. */
export function conformanceOfSettings(settings: object, baseUrl: string): Promise<Conformance> {
  const key = JSON.stringify(settings);
  const found = published.get(key) ?? conformanceOf(baseUrl);
  published.set(key, found);
  found.catch(() => published.delete(key));
  return found;
}

/** `fetch` that fails when the answer is not as the service's document says. */
export function checkedFetch(baseUrl: string): (request: Request) => Promise<Response> {
  let reading: Promise<Conformance> | null = null;
  return async (request) => {
    const response = await fetch(request);
    const { pathname, search } = new URL(request.url);
    const { status, headers } = response;
    const conformance = await (reading ??= conformanceOf(baseUrl));
    conformance.check({
      method: request.method,
      path: pathname + search,
      status,
      headers,
      text: await response.clone().text(),
    });
    return response;
  };
}
