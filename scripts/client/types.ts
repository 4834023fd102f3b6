import openapiTS, { astToString } from "openapi-typescript";
import { format, resolveConfig } from "prettier";
import ts from "typescript";

import { parseSettings } from "../../api/config/settings.ts";
import { type ApiDocument, apiDocument } from "../../api/v1/openapi/document.ts";
import { SHORT_TYPES, shorter } from "./shorter.ts";

const HEAD =
  "// Written by `npm run update -- client` from the published document (GET /openapi.json): do not edit.\n\n";
const KEY = "#/components/parameters/IdempotencyKey";
const FILE = new URL("../../client/document.ts", import.meta.url);

/** Generates the types of the client from the current OpenAPI document, and the list of calls that are safe to repeat. */
export async function clientTypes(): Promise<string> {
  const document = apiDocument(parseSettings({}));
  const inputs = integerInputs(document);
  const nodes = await openapiTS(JSON.stringify(withoutExamples(document, inputs)), {
    defaultNonNullable: false,
    transform: (schema) => (BIGINT in schema ? NUMBER_OR_BIGINT : undefined),
  });
  const types = shortComments(astToString(shorter(nodes))).replaceAll("(number | bigint) |", "number | bigint |");
  return format(`${HEAD}${SHORT_TYPES}\n${types}\n${idempotentCalls(document)}`, {
    ...(await resolveConfig(FILE)),
    parser: "typescript",
    objectWrap: "collapse",
  });
}

/** Without the words that the types and the statuses say themselves, and on one line where that is enough. */
function shortComments(types: string): string {
  return types
    .replace(/\n *\* @(?:enum \{string\}|constant)(?=\n)/g, "")
    .replace(/\/\*\*\n *\* ([^\n]*)\n *\*\/(?=\n)/g, "/** $1 */")
    .replace(/\n *\/\*\* @description Success\. \*\/(?=\n)/g, "");
}

/** Marks the schema of an integer that the client also takes as a bigint. */
const BIGINT = "x-bigint";
const NUMBER_OR_BIGINT = ts.factory.createUnionTypeNode(
  [ts.SyntaxKind.NumberKeyword, ts.SyntaxKind.BigIntKeyword].map((kind) =>
    ts.factory.createKeywordTypeNode(kind as ts.KeywordTypeSyntaxKind),
  ),
);

/**
 * Whole bodies would become long comments. The examples of single fields stay.
 * @param inputs the schemas to mark
 */
function withoutExamples(value: unknown, inputs: ReadonlySet<unknown>): unknown {
  if (Array.isArray(value)) return value.map((one) => withoutExamples(one, inputs));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, child]: [string, unknown]) => [
    key,
    key === "content"
      ? contentWithoutExamples(child as Record<string, object>, inputs)
      : withoutExamples(child, inputs),
  ]);
  return { ...Object.fromEntries(entries), ...(inputs.has(value) && { [BIGINT]: true }) } as unknown;
}

function contentWithoutExamples(content: Record<string, object>, inputs: ReadonlySet<unknown>): unknown {
  return Object.fromEntries(
    Object.entries(content).map(([type, media]) => [
      type,
      { ...(withoutExamples(media, inputs) as object), example: undefined, examples: undefined },
    ]),
  );
}

const METHODS = ["get", "post", "put", "patch", "delete"] as const;

/** The schemas of the integers that callers send: in bodies, paths and queries. */
export function integerInputs(document: ApiDocument): Set<object> {
  const seen = new Set<unknown>();
  const found = new Set<object>();
  const look = (node: unknown): void => {
    if (typeof node !== "object" || node === null || seen.has(node)) return;
    seen.add(node);
    const { type, $ref: to } = node as { type?: unknown; $ref?: unknown };
    if (type === "integer") found.add(node);
    if (typeof to === "string") look(to.slice("#/".length).split("/").reduce(childOf, document));
    for (const child of Object.values(node)) look(child);
  };
  for (const path of Object.values(document.paths ?? {})) {
    for (const method of METHODS) look([path[method]?.requestBody, path[method]?.parameters]);
  }
  return found;
}

function childOf(node: object, name: string): object {
  return (node as Record<string, object>)[name] ?? {};
}

/** The types do not exist at run time, so this is a value. */
function idempotentCalls({ paths = {} }: ApiDocument): string {
  const calls = Object.entries(paths).flatMap(([path, item]) =>
    (["post", "put", "patch", "delete"] as const)
      .filter((method) => item[method]?.parameters?.some((parameter) => "$ref" in parameter && parameter.$ref === KEY))
      .map((method) => `${method.toUpperCase()} ${path}`),
  );
  return `/** Calls that take an \`Idempotency-Key\`. */\nexport const IDEMPOTENT_CALLS: readonly string[] = ${JSON.stringify(calls, null, 4)};\n`;
}
