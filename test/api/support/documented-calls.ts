import type { OpenApiDocument, Operation } from "../../support/conformance.ts";

export interface DocumentedCall {
  name: string;
  /** Who may call. */
  caller: "any" | "session" | "operator";
  method: string;
  path: string;
}

/** Every call of the document that needs a token or a session. */
export function callsOf(document: OpenApiDocument): DocumentedCall[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([, operation]) => operation.security?.length !== 0)
      .map(([method, { operationId, security }]) => ({
        name: operationId ?? "",
        caller: callerOf(security),
        method: method.toUpperCase(),
        path,
      })),
  );
}

function callerOf(security: Operation["security"] = []): DocumentedCall["caller"] {
  const schemes = security.flatMap((one) => Object.keys(one));
  if (schemes.includes("token")) return "any";
  return schemes.includes("session") ? "session" : "operator";
}
