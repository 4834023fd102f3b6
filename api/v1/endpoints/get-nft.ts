import { listHolders } from "../../store/listings/holdings.ts";
import { findNft } from "../../store/listings/nfts.ts";
import { toWireInteger } from "../../domain/numbers.ts";
import { defineEndpoint } from "../endpoint.ts";
import { collectionNftExample } from "../examples.ts";
import { presentHolder, presentNft } from "../present/nft.ts";
import { found } from "../present/not-found.ts";
import { placeOf } from "../present/uris.ts";
import { singleNft } from "../schemas/nfts.ts";
import { pageAnswer, pageQuery, readPage } from "../schemas/pages.ts";
import { tokenParams } from "../schemas/params.ts";

export function getNft() {
  return defineEndpoint({
    method: "get",
    path: "/collections/:address/:token_id",
    summary: "Show a token with its owner (ERC721) or a page of its owners (ERC1155)",
    name: "getNft",
    description: "`limit`, `offset` and `cursor` page through the owners of an ERC1155 id.",
    examples: { answer: collectionNftExample },
    scope: "read",
    params: tokenParams,
    query: pageQuery,
    response: singleNft,
    errors: ["not_found"],
    handle: async (deps, { appId, params, query }) => {
      const db = deps.database.read;
      const wanted = readPage(query, "owners");
      const collection = found(await deps.lookUps.collection(appId, params.address));
      const nft = found(await findNft(db, collection.address, params.token_id.toString()));
      const item = presentNft(placeOf(deps), nft);
      if (collection.type === "ERC721") return { ...item, type: "ERC721" as const, owner: nft.owner };
      const page = await listHolders(db, nft.contract, nft.tokenId, wanted);
      const token = { ...item, type: "ERC1155" as const, quantity: toWireInteger(nft.supply) };
      return pageAnswer(page, "owners", "owners", page.items.map(presentHolder), token);
    },
  });
}
