import type { ZodOpenApiPathItemObject, ZodOpenApiPathsObject } from "zod-openapi";

import { MAX_HEADER_BYTES } from "../../config/limits.ts";
import { errorResponses } from "./errors.ts";
import { headerRefs } from "./headers.ts";
import { operation, type Parameter, pathParameter, PUBLIC_ERRORS } from "./public-operation.ts";

const DESCRIPTION =
  "Content under a CID never changes. `Range` is supported. The content comes from third parties, so no part of it may run on this origin.";

/** Files hosted on IPFS: by CID, or by path in a directory. */
export function ipfsPaths(): ZodOpenApiPathsObject {
  const cid = pathParameter(
    "cid",
    "Content identifier.",
    "bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy",
    { maxLength: 128 },
  );
  const path = pathParameter(
    "path",
    "Path of the file in the directory, **slashes included**, such as `images/cat.png`. OpenAPI 3.1 cannot describe such a " +
      "parameter, so generated clients may escape the slashes as `%2F`: the service accepts both.",
    "collection.json",
    { maxLength: MAX_HEADER_BYTES },
  );
  return {
    "/ipfs/{cid}": contentPath("Content", "Content that the service hosts on IPFS", [cid]),
    "/ipfs/{cid}/{path}": contentPath("ContentAt", "A file of a directory that the service hosts on IPFS", [cid, path]),
  };
}

function contentPath(name: string, summary: string, parameters: Parameter[]): ZodOpenApiPathItemObject {
  const file = { schema: { type: "string" as const, format: "binary" } };
  // The first is for generators of clients, which know no `*/*`.
  const content = { "application/octet-stream": file, "*/*": file };
  const headers = headerRefs(["ETag", "Cache-Control", "Accept-Ranges"]);
  const ranged = headerRefs(["ETag", "Cache-Control", "Accept-Ranges", "Content-Range"]);
  const unchanged = {
    description: "Not changed: `If-None-Match` has the current tag.",
    headers: headerRefs(["ETag", "Cache-Control"]),
  };
  const common = { tags: ["Public"], description: DESCRIPTION, security: [], parameters };
  const errors = errorResponses(PUBLIC_ERRORS.ipfs);
  return {
    get: {
      ...common,
      operationId: `get${name}`,
      summary,
      responses: {
        "200": { description: "The whole content.", headers, content },
        "206": { description: "The bytes in `Range`.", headers: ranged, content },
        "304": unchanged,
        ...errors,
      },
    },
    head: {
      ...common,
      operationId: `head${name}`,
      summary: `${summary}: headers only`,
      responses: {
        "200": { description: "The headers of the same GET.", headers },
        "206": { description: "The headers of the same GET with `Range`.", headers: ranged },
        "304": unchanged,
        ...errors,
      },
    },
    options: {
      ...operation(`get${name}Options`, `${summary}: CORS preflight`, PUBLIC_ERRORS.options, null),
      parameters,
    },
  };
}
