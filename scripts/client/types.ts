import openapiTS, { astToString } from "openapi-typescript";
import { format, resolveConfig } from "prettier";

import { parseSettings } from "../../api/config/settings.ts";
import { type ApiDocument, apiDocument } from "../../api/v1/openapi/document.ts";
import { SHORT_TYPES, shorter } from "./shorter.ts";

const HEAD = "// Written by `npm run client` from the published document (GET /openapi.json): do not edit.\n\n";
const KEY = "#/components/parameters/IdempotencyKey";
const FILE = new URL("../../client/document.ts", import.meta.url);

/** Generates the types of the client from the current OpenAPI document, and the list of calls that are safe to repeat. */
export async function clientTypes(): Promise<string> {
  const document = apiDocument(parseSettings({}));
  const nodes = await openapiTS(JSON.stringify(withoutExamples(document)), { defaultNonNullable: false });
  const types = shortComments(astToString(shorter(nodes)));
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

/** Whole bodies would become long comments. The examples of single fields stay. */
function withoutExamples(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutExamples);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, child]: [string, unknown]) => [
      key,
      key === "content" ? contentWithoutExamples(child as Record<string, object>) : withoutExamples(child),
    ]),
  );
}

function contentWithoutExamples(content: Record<string, object>): unknown {
  return Object.fromEntries(
    Object.entries(content).map(([type, media]) => [type, { ...media, example: undefined, examples: undefined }]),
  );
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
