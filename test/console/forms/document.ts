import type { ApiDocument } from "../../../console/forms/model/schema.ts";
import { apiDocument } from "../../../api/v1/openapi/document.ts";

/** The service's document as a browser gets it. */
export function documentOfService(): ApiDocument {
  const document = apiDocument({ publicUrl: "http://127.0.0.1:3000" });
  return JSON.parse(JSON.stringify(document)) as ApiDocument;
}
