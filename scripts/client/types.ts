import openapiTS, { astToString } from "openapi-typescript";

import { parseSettings } from "../../api/config/settings.ts";
import { type ApiDocument, apiDocument } from "../../api/v1/openapi/document.ts";

const HEAD = "// Written by `npm run client` from the published document (GET /openapi.json): do not edit.\n\n";
const KEY = "#/components/parameters/IdempotencyKey";

/** Generates the types of the client from the current OpenAPI document, and the list of calls that are safe to repeat. */
export async function clientTypes(): Promise<string> {
  const document = apiDocument(parseSettings({}));
  const types = astToString(await openapiTS(JSON.stringify(document), { defaultNonNullable: false }));
  return `${HEAD}${types}\n${idempotentCalls(document)}`;
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
