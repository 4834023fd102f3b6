import { createDocument, type ZodOpenApiPathsObject } from "zod-openapi";

import packageJson from "../../../package.json" with { type: "json" };
import { type ErrorCode, ERRORS } from "../../domain/error-codes.ts";
import { ENDPOINTS } from "../endpoints.ts";
import { whereOf } from "../public/errors-page.ts";
import { errorCodesOf, sharedErrorResponses } from "./errors.ts";
import { IDEMPOTENCY_KEY, LAST_EVENT_ID, RESPONSE_HEADERS } from "./headers.ts";
import { documentPath, operationOf, TAG_WORDS } from "./operation.ts";
import { htmlOperation, PUBLIC_ERRORS, publicPaths, webhookCalls } from "./public.ts";
import { securitySchemes } from "./security.ts";

export type ApiDocument = ReturnType<typeof createDocument>;

const DESCRIPTION = `NFT back end: wallets, collections, mints and gasless transfers.

On-chain calls return a \`request_id\` at once. Poll the request, or register a webhook, for the result.

- Numbers: send token ids and quantities as JSON integers of any length or as decimal strings. Answers have integers up to
  2^53-1 and decimal strings above that.
- Addresses: send them in any case; a mixed-case address must have the right EIP-55 checksum. Answers have EIP-55 form.
- null in a body counts as left out. Unknown fields in bodies and queries are refused, so that a typo loses no data.
- **Ignore unknown fields in answers: later versions of \`/v1\` add fields.** A breaking change gets a new prefix.
- Errors: every error body is \`{error_code, message, errors}\`. Each operation lists its codes; the
  [list of error codes](docs/errors) explains all of them. In addition, a path that does not exist answers 404 \`not_found\`
  (under \`/v1\` only to a valid token), and an unsupported method 405 \`method_not_allowed\` with \`Allow\`.
`;

/** The OpenAPI 3.1 document of this service, made from the endpoints and their schemas. */
export function apiDocument(settings: { publicUrl: string }): ApiDocument {
  const paths: ZodOpenApiPathsObject = {};
  for (const endpoint of ENDPOINTS) {
    const path = documentPath(endpoint.path);
    paths[path] = { ...paths[path], [endpoint.method]: operationOf(endpoint) };
  }
  Object.assign(paths, publicPaths(), errorsPath());
  const document = createDocument(
    {
      openapi: "3.1.0",
      info: {
        title: "Moneta",
        version: packageJson.version,
        description: DESCRIPTION,
        license: { name: packageJson.license, identifier: packageJson.license },
      },
      // Relative to this document, so that it is right behind a proxy and under any host name.
      servers: [{ url: new URL(settings.publicUrl).pathname }],
      tags: Object.entries(TAG_WORDS).map(([name, description]) => ({ name, description })),
      paths,
      webhooks: webhookCalls(),
      components: {
        securitySchemes: securitySchemes(settings.publicUrl),
        headers: RESPONSE_HEADERS,
        parameters: { IdempotencyKey: IDEMPOTENCY_KEY, LastEventId: LAST_EVENT_ID },
        responses: sharedErrorResponses([...ENDPOINTS.map(errorCodesOf), ...Object.values(PUBLIC_ERRORS)]),
      },
    },
    {
      // Answers may gain fields later: only requests forbid unknown fields.
      override: ({ jsonSchema, io }) => {
        if (io === "output" && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
      },
    },
  );
  describeParameters(document);
  cleanReferences(document);
  return document;
}

/** zod leaves `additionalProperties: false` beside a reference to an object, where it would forbid every field. */
function cleanReferences(node: unknown): void {
  if (typeof node !== "object" || node === null) return;
  if ("$ref" in node && "additionalProperties" in node) delete node.additionalProperties;
  for (const child of Object.values(node)) cleanReferences(child);
}

const METHODS = ["get", "post", "put", "patch", "delete"] as const;

/** Moves the description of a parameter's schema to the parameter, where generators and pages look for it. */
function describeParameters({ paths = {}, components = {} }: ApiDocument): void {
  const operations = Object.values(paths).flatMap((item) => METHODS.map((method) => item[method]));
  const inOperations = operations.flatMap((operation) => operation?.parameters ?? []);
  for (const parameter of [...inOperations, ...Object.values(components.parameters ?? {})]) {
    if ("$ref" in parameter || parameter.description !== undefined || parameter.schema === undefined) continue;
    const { description, ...schema } = parameter.schema as { description?: string };
    if (description !== undefined) Object.assign(parameter, { description, schema });
  }
}

/** The last operation of the document: its description has the table of all error codes. */
function errorsPath(): ZodOpenApiPathsObject {
  return {
    "/docs/errors": {
      get: htmlOperation("getErrorCodes", "Errors", "All error codes as a page", errorTable()),
    },
  };
}

/** All codes as Markdown. `doc_url` is relative to this document. */
function errorTable(): string {
  const rows = (Object.keys(ERRORS) as ErrorCode[]).map(
    (code) =>
      `| ${whereOf(code)} | \`${code}\` | ${ERRORS[code].message} | [docs/errors#${code}](docs/errors#${code}) |`,
  );
  return [
    "A status shows that an HTTP answer has the code; “request” shows that an accepted request can fail with it later.",
    "",
    "| Status | `error_code` | `message` | `doc_url` |",
    "|---|---|---|---|",
    ...rows,
  ].join("\n");
}
