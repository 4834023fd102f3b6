import { listCollections as list } from "../../store/listings/collections.ts";
import { defineEndpoint } from "../endpoint.ts";
import { collectionExample, pageExample } from "../examples.ts";
import { presentCollection } from "../present/collection.ts";
import { placeOf } from "../present/uris.ts";
import { collectionsPage } from "../schemas/collections.ts";
import { pageAnswer, pageQuery, readPage } from "../schemas/pages.ts";
import { none } from "../schemas/params.ts";

export function listCollections() {
  return defineEndpoint({
    method: "get",
    path: "/collections",
    summary: "List the app's collections",
    name: "listCollections",
    description: "Only collections whose request has completed.",
    examples: { answer: { collections: [collectionExample], ...pageExample } },
    scope: "read",
    params: none,
    query: pageQuery,
    response: collectionsPage,
    handle: async (deps, { appId, query }) => {
      const page = await list(deps.database.read, appId, readPage(query, "collections"));
      const place = placeOf(deps);
      const collections = page.items.map((row) => presentCollection(place, row));
      return pageAnswer(page, "collections", "collections", collections);
    },
  });
}
