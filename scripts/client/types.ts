import openapiTS, { astToString } from "openapi-typescript";

import { parseSettings } from "../../api/config/settings.ts";
import { apiDocument } from "../../api/v1/openapi/document.ts";

const HEAD = "// Written by `npm run client` from the published document (GET /openapi.json): do not edit.\n\n";

/** Generates the types of the client from the current OpenAPI document. */
export async function clientTypes(): Promise<string> {
  const document = JSON.stringify(apiDocument(parseSettings({})));
  return HEAD + astToString(await openapiTS(document, { defaultNonNullable: false }));
}
