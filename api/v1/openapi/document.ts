import { createDocument } from "zod-openapi";

import packageJson from "../../../package.json" with { type: "json" };
import type { Limits } from "../../config/limits.ts";
import { endpointsOf } from "../endpoints.ts";
import { errorCodesOf, errorTable, sharedErrorResponses } from "./errors.ts";
import { IDEMPOTENCY_KEY, RESPONSE_HEADERS } from "./headers.ts";
import { documentPath, operationOf, TAG_WORDS } from "./operation.ts";
import { webhookCalls } from "./webhooks.ts";
import { PUBLIC_ERRORS } from "./public-operation.ts";
import { publicPaths } from "./public.ts";

export type ApiDocument = ReturnType<typeof createDocument>;

const DESCRIPTION = `NFT back end: wallets, collections, mints and gasless transfers.

Everything that ends on the chain answers a \`request_id\` first; the request, and the webhook, then say what became of it.

- Numbers: token ids and quantities are taken as JSON integers of any length or as decimal strings, and answered as
  integers up to 2^53-1, as decimal strings above that.
- Addresses are taken in any case (one in mixed case must have the right checksum) and answered in EIP-55 form.
- null in a body counts as left out. Unknown fields in bodies and queries are refused, so that no typo loses data.
- **Ignore fields of answers that you do not know: later versions of \`/v1\` add some.** A change that breaks clients is a
  new prefix.

## Errors

Every error has one shape, \`{error_code, errors}\`, and one of these codes. Each operation lists its own; besides them a
path that does not exist answers 404 \`not_found\` (under \`/v1\` only to a valid token), and a method that a path does not
take 405 \`method_not_allowed\` with \`Allow\`.

`;

/** The document of this service (OpenAPI 3.1), made from the endpoints and their schemas. */
export function apiDocument(settings: { publicUrl: string; limits: Limits }): ApiDocument {
  const endpoints = endpointsOf(settings.limits);
  const paths = publicPaths();
  for (const endpoint of endpoints) {
    const path = documentPath(endpoint.path);
    paths[path] = { ...paths[path], [endpoint.method]: operationOf(endpoint) };
  }
  return createDocument(
    {
      openapi: "3.1.0",
      info: {
        title: "Moneta",
        version: packageJson.version,
        description: DESCRIPTION + errorTable(),
        license: { name: packageJson.license, identifier: packageJson.license },
      },
      // Where this document is: it stays right behind a proxy and under any name.
      servers: [{ url: new URL(settings.publicUrl).pathname }],
      tags: Object.entries(TAG_WORDS).map(([name, description]) => ({ name, description })),
      paths,
      webhooks: webhookCalls(),
      components: {
        securitySchemes: {
          token: {
            type: "http",
            scheme: "bearer",
            description:
              "A token of the app, as the command line made it. The bare token, without `Bearer`, is taken too.",
          },
        },
        headers: RESPONSE_HEADERS,
        parameters: { IdempotencyKey: IDEMPOTENCY_KEY },
        responses: sharedErrorResponses([...endpoints.map(errorCodesOf), ...Object.values(PUBLIC_ERRORS)]),
      },
    },
    {
      // Answers may gain fields: only requests are closed.
      override: ({ jsonSchema, io }) => {
        if (io === "output" && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
      },
    },
  );
}
