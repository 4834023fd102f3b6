import type { ZodOpenApiPathItemObject, ZodOpenApiPathsObject } from "zod-openapi";

import { errorResponses } from "./errors.ts";
import { headerRefs } from "./headers.ts";
import { operation, type Parameter, pathParameter, PUBLIC_ERRORS } from "./public-operation.ts";

const DESCRIPTION =
  "The same for ever. `Range` is understood. Content comes from strangers: nothing of it runs on this origin.";

/** What is hosted on IPFS: a file by its CID, or by its path in a directory. */
export function ipfsPaths(): ZodOpenApiPathsObject {
  const cid = pathParameter(
    "cid",
    "Content identifier.",
    "bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy",
  );
  const path = pathParameter(
    "path",
    "Path of the file in the directory, **slashes included**, as in `images/cat.png`: OpenAPI 3.1 has no way to say that " +
      "of a parameter. Clients made from this document may escape the slashes (`%2F`): such a slash counts as one.",
    "collection.json",
  );
  return {
    "/ipfs/{cid}": contentPath("Content", "Content that the service hosts on IPFS", [cid]),
    "/ipfs/{cid}/{path}": contentPath("ContentAt", "A file of a directory that the service hosts on IPFS", [cid, path]),
  };
}

function contentPath(name: string, summary: string, parameters: Parameter[]): ZodOpenApiPathItemObject {
  const content = { "*/*": { schema: { type: "string" as const, format: "binary" } } };
  const headers = headerRefs(["ETag", "Cache-Control", "Accept-Ranges"]);
  const ranged = headerRefs(["ETag", "Cache-Control", "Accept-Ranges", "Content-Range"]);
  const unchanged = { description: "`If-None-Match` has it already.", headers: headerRefs(["ETag", "Cache-Control"]) };
  const common = { tags: ["Public"], description: DESCRIPTION, security: [], parameters };
  const errors = errorResponses(PUBLIC_ERRORS.ipfs);
  return {
    get: {
      ...common,
      operationId: `get${name}`,
      summary,
      responses: {
        "200": { description: "All of it.", headers, content },
        "206": { description: "The bytes that `Range` asked for.", headers: ranged, content },
        "304": unchanged,
        ...errors,
      },
    },
    head: {
      ...common,
      operationId: `head${name}`,
      summary: `${summary}: its size and type alone`,
      responses: {
        "200": { description: "What GET would say of it.", headers },
        "206": { description: "What GET would say of the bytes that `Range` asks for.", headers: ranged },
        "304": unchanged,
        ...errors,
      },
    },
    options: {
      ...operation(`get${name}Options`, `${summary}: what other origins may ask`, PUBLIC_ERRORS.options, null),
      parameters,
    },
  };
}
