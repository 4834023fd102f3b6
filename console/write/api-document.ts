import { SERVICE_URL } from "../service/session.ts";
import { type Loaded, useData } from "../service/use-data.ts";
import type { ApiDocument } from "../forms/model/schema.ts";

let loaded: Promise<ApiDocument> | null = null;

/** The service's own document, from which the forms are made. It is read once. */
export function useApiDocument(): Loaded<ApiDocument> {
  return useData(readApiDocument, []);
}

export function readApiDocument(): Promise<ApiDocument> {
  loaded ??= load().catch((error: unknown) => {
    loaded = null;
    throw error;
  });
  return loaded;
}

async function load(): Promise<ApiDocument> {
  const response = await fetch(`${SERVICE_URL}openapi.json`);
  if (!response.ok) {
    throw new Error(`The service did not send its document (status ${response.status.toString()}). Reload the page.`);
  }
  return (await response.json()) as ApiDocument;
}
