import { listNfts as list } from "../../store/listings/nfts.ts";
import { defineEndpoint } from "../endpoint.ts";
import { collectionNftExample, pageExample } from "../examples.ts";
import { presentCollectionNft } from "../present/nft.ts";
import { found } from "../present/not-found.ts";
import { placeOf } from "../present/uris.ts";
import { collectionNftsPage } from "../schemas/nfts.ts";
import { pageAnswer, pageQuery, readPage } from "../schemas/pages.ts";
import { addressParams } from "../schemas/params.ts";

export function listNfts() {
  return defineEndpoint({
    method: "get",
    path: "/collections/:address",
    summary: "List the tokens of a collection",
    name: "listNfts",
    examples: { answer: { nfts: [collectionNftExample], ...pageExample } },
    scope: "read",
    params: addressParams,
    query: pageQuery,
    response: collectionNftsPage,
    errors: ["not_found"],
    handle: async (deps, { appId, params, query }) => {
      const collection = found(await deps.lookUps.collection(appId, params.address));
      const page = await list(deps.database.read, collection.address, readPage(query, "nfts"));
      const place = placeOf(deps);
      const nfts = page.items.map((nft) => presentCollectionNft(place, nft));
      return pageAnswer(page, "nfts", "nfts", nfts);
    },
  });
}
