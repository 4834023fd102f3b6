import { z } from "zod";

import {
  changeCollectionMetadata,
  changeTokenMetadata,
  createCollection as accept,
  freezeMetadata,
} from "../../commands/collections.ts";
import { warningsIn } from "../../commands/answers.ts";
import type { CollectionMetadata, CreateCollection } from "../../domain/command.ts";
import { MAX_INDEXED_TRAITS, MAX_TRAIT_LENGTH } from "../../domain/filters.ts";
import { toWireInteger } from "../../domain/token.ts";
import { publishedTokenMetadata } from "../../domain/metadata-files.ts";
import { warningsOfCollection } from "../../../client/rules/warnings.ts";
import { listCollections as storedCollections, searchCollections } from "../../store/listings/collections.ts";
import { listTokenHistory as storedHistory } from "../../store/listings/history.ts";
import { listHolders } from "../../store/listings/holdings.ts";
import { findMintedNft, findNft, listNfts as storedNfts, listSomeNfts, searchNfts } from "../../store/listings/nfts.ts";
import { traitKey } from "../../store/listings/search.ts";
import type { HttpDeps } from "../deps.ts";
import { defineEndpoint, Verbatim } from "../endpoint.ts";
import {
  acceptedExample,
  ALICE,
  collectionExample,
  collectionNftExample,
  historyExample,
  pageExample,
  REFERENCE,
  REQUEST_ID,
} from "../examples.ts";
import {
  found,
  foundOne,
  placeOf,
  presentCollection,
  presentCollectionNft,
  presentHistoryEntry,
  presentHolder,
  presentNft,
} from "../present.ts";
import {
  changedCollection,
  changedToken,
  collectionChanges,
  collectionNftsPage,
  collectionsPage,
  type CreateCollectionBody,
  createCollectionBody,
  HOSTED_FIELDS,
  tokenChanges,
} from "../schemas/collections.ts";
import { historyPage } from "../schemas/history.ts";
import { type NftsQuery, nftsQuery, singleNft } from "../schemas/nfts.ts";
import { reference } from "../schemas/inputs.ts";
import { accepted } from "../schemas/outputs.ts";
import {
  listingOf,
  longPageQuery,
  pageAnswer,
  pageOfFound,
  pageQuery,
  readPage,
  searchableQuery,
} from "../schemas/pages.ts";
import { addressParams, tokenParams } from "../schemas/params.ts";
import { walletOf } from "../by-user.ts";

const createCollection = defineEndpoint({
  method: "post",
  path: "/collections",
  summary: "Create a collection, hosted or self-hosted",
  name: "createCollection",
  description:
    "`base_uri` or `collection_uri` makes the collection self-hosted: the app hosts the metadata. Without them the service hosts it. The collection is listed when its request has completed.",
  examples: {
    bodies: {
      "Hosted ERC721": {
        type: "ERC721",
        name: "Cats",
        symbol: "CAT",
        mint_supply_count: 1000,
        description: "A thousand cats",
        seller_fee_basis_points: 500,
        fee_recipient: ALICE,
      },
      "Self-hosted ERC1155": {
        type: "ERC1155",
        name: "Gems",
        symbol: "GEM",
        base_uri: "https://gems.example/{id}.json",
        collection_uri: "https://gems.example/all.json",
      },
    },
    answer: acceptedExample,
  },
  scope: "collections",
  body: createCollectionBody,
  response: accepted,
  idempotent: true,
  errors: ["quota_exceeded"],
  handle: async (deps, call) => {
    const cap = call.body.mint_supply_count ?? call.body.mint_supply_account ?? 0;
    const command = commandOf(call.body, cap);
    const warnings = warningsOfCollection(command, cap);
    return new Verbatim(await accept(deps, call, command, { reference: call.body.reference, warnings }));
  },
});

function commandOf(body: CreateCollectionBody, cap: number): CreateCollection {
  const baseUri = body.base_uri ?? null;
  return {
    kind: "create-collection",
    type: body.type,
    hosting: baseUri === null ? "hosted" : "self-hosted",
    name: body.name,
    symbol: body.symbol,
    maxSupply: body.type === "ERC721" && cap > 0 ? cap : null,
    baseUri,
    collectionUri: body.collection_uri ?? null,
    metadata: metadataOf(body),
    newOwner: body.new_owner ?? null,
    soulbound: body.soulbound ?? false,
  };
}

function metadataOf(body: CreateCollectionBody): CollectionMetadata {
  const given = HOSTED_FIELDS.filter((name) => body[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, body[name]]));
}

const listCollections = defineEndpoint({
  method: "get",
  path: "/collections",
  summary: "List the app's collections",
  name: "listCollections",
  description: "Only collections whose request has completed.",
  examples: { answer: { collections: [collectionExample], ...pageExample } },
  scope: "read",
  query: searchableQuery("name or symbol"),
  response: collectionsPage,
  handle: async (deps, { appId, query: { addresses, search, order = "oldest", ...query } }) => {
    const listing = listingOf("collections", order, "oldest");
    const wanted = readPage(query, listing);
    const page =
      addresses !== undefined
        ? pageOfFound(await deps.lookUps.collections([...new Set(addresses)].map((address) => ({ appId, address }))))
        : search !== undefined
          ? pageOfFound(await searchCollections(deps.database.read, appId, search, wanted.limit), wanted.limit)
          : await storedCollections(deps.database.read, appId, order, wanted);
    const place = placeOf(deps);
    const collections = page.items.map((row) => presentCollection(place, row));
    return pageAnswer(page, listing, "collections", collections);
  },
});

const listNfts = defineEndpoint({
  method: "get",
  path: "/collections/:address",
  summary: "List the tokens of a collection",
  name: "listNfts",
  description: `Without a filter: in the order of their creation. \`search\` finds hosted tokens by how their names begin. \`owner\` or \`user\` lists the tokens of one wallet, in the order in which it received them. \`trait_type\` with \`trait_value\` lists the tokens with such an attribute, which hosted metadata has: of each token the first ${MAX_INDEXED_TRAITS.toString()} attributes with a \`trait_type\` and a text, number or boolean as \`value\` can be found, of at most ${MAX_TRAIT_LENGTH.toString()} characters each. Capital letters count.`,
  examples: { answer: { collection: collectionExample, nfts: [collectionNftExample], ...pageExample } },
  scope: "read",
  params: addressParams,
  query: nftsQuery,
  response: collectionNftsPage,
  errors: ["not_found"],
  handle: async (deps, { appId, params, query }) => {
    const collection = foundOne(await deps.lookUps.collections([{ appId, address: params.address }]));
    const { listing, page } = await nftsOf(deps, appId, collection.address, query);
    const place = placeOf(deps);
    const nfts = page.items.map((nft) => presentCollectionNft(place, nft));
    return pageAnswer(page, listing, "nfts", nfts, { collection: presentCollection(place, collection) });
  },
});

/** The page that a query asks for, and the listing that its cursors belong to. */
async function nftsOf(deps: HttpDeps, appId: string, contract: string, query: NftsQuery) {
  const { owner, user, trait_type: type, trait_value: value, search, order = "oldest", ...place } = query;
  const db = deps.database.read;
  if (type !== undefined && value !== undefined) {
    const listing = "nfts_with_trait";
    const filter = { trait: traitKey(contract, type, value) };
    return { listing, page: await listSomeNfts(db, contract, filter, readPage(place, listing)) };
  }
  if (search !== undefined) {
    const listing = "nfts_found";
    const { limit } = readPage(place, listing);
    return { listing, page: pageOfFound(await searchNfts(db, contract, search, limit), limit) };
  }
  if (owner === undefined && user === undefined) {
    const listing = listingOf("nfts", order, "oldest");
    return { listing, page: await storedNfts(db, contract, order, readPage(place, listing)) };
  }
  const listing = "nfts_of_owner";
  const wanted = readPage(place, listing);
  const wallet = await walletOf(deps.lookUps, appId, owner, user);
  if (wallet == null) return { listing, page: pageOfFound<never>([], wanted.limit) };
  return { listing, page: await listSomeNfts(db, contract, { owner: wallet }, wanted) };
}

const getNft = defineEndpoint({
  method: "get",
  path: "/collections/:address/:token_id",
  summary: "Show a token with its owner (ERC721) or a page of its owners (ERC1155)",
  name: "getNft",
  description:
    "`limit`, `offset` and `cursor` page through the owners of an ERC1155 id. A burnt token is shown, too: it has no owner, and its history says who burnt it.",
  examples: { answer: collectionNftExample },
  scope: "read",
  params: tokenParams,
  query: pageQuery,
  response: singleNft,
  errors: ["not_found"],
  handle: async (deps, { appId, params, query }) => {
    const db = deps.database.read;
    const wanted = readPage(query, "owners");
    const collection = foundOne(await deps.lookUps.collections([{ appId, address: params.address }]));
    const nft = found(await findNft(db, collection.address, params.token_id.toString()));
    const item = presentNft(placeOf(deps), nft);
    if (collection.type === "ERC721") return { ...item, type: "ERC721" as const, owner: nft.owner };
    const page = await listHolders(db, nft.contract, nft.tokenId, wanted);
    const token = { ...item, type: "ERC1155" as const, quantity: toWireInteger(nft.supply) };
    return pageAnswer(page, "owners", "owners", page.items.map(presentHolder), token);
  },
});

const changeCollection = defineEndpoint({
  method: "patch",
  path: "/collections/:address",
  summary: "Change the metadata of a hosted collection",
  name: "changeCollection",
  description:
    "Missing fields keep their values; null removes a field. On-chain royalties (ERC-2981) do not change. The service announces the change on chain (ERC-7572), unless the collection has its own owner.",
  examples: {
    bodies: { "A new description": { description: "A thousand and one cats", external_link: null } },
    answer: { metadata: { description: "A thousand and one cats" }, request_id: REQUEST_ID },
  },
  scope: "collections",
  params: addressParams,
  body: collectionChanges,
  response: changedCollection,
  errors: ["not_found", "wrong_hosting", "metadata_frozen", "quota_exceeded"],
  handle: async (deps, call) => {
    const { metadata, requestId, warnings } = await changeCollectionMetadata(
      deps,
      call,
      call.params.address,
      call.body,
    );
    return { metadata, request_id: requestId, ...warningsIn(warnings) };
  },
});

const changeToken = defineEndpoint({
  method: "patch",
  path: "/collections/:address/:token_id",
  summary: "Change the metadata of a hosted token",
  name: "changeToken",
  description:
    "Missing fields keep their values; null removes a field. `{token_id}` is replaced by the token id, as in a mint; a change brings this to the URIs of tokens from before 0.4.0, too. The service announces the change on chain (ERC721: ERC-4906; ERC1155: the event `URI`), unless the collection has its own owner.",
  examples: {
    bodies: { "Another colour": { attributes: [{ trait_type: "fur", value: "blue" }], background_color: null } },
    answer: {
      metadata: { name: "Cat 12", attributes: [{ trait_type: "fur", value: "blue" }] },
      request_id: REQUEST_ID,
    },
  },
  scope: "collections",
  params: tokenParams,
  body: tokenChanges,
  response: changedToken,
  errors: ["not_found", "wrong_hosting", "wrong_collection_type", "metadata_frozen", "quota_exceeded"],
  handle: async (deps, call) => {
    const { address, token_id: id } = call.params;
    const tokenId = id.toString();
    const { metadata, requestId, warnings } = await changeTokenMetadata(deps, call, address, tokenId, call.body);
    const published = publishedTokenMetadata(metadata, tokenId);
    return { metadata: published, request_id: requestId, ...warningsIn(warnings) };
  },
});

const freezeCollection = defineEndpoint({
  method: "post",
  path: "/collections/:address/freeze",
  summary: "Freeze the metadata of a hosted collection permanently",
  name: "freezeCollection",
  description:
    "Moves the metadata of the collection and of every token into one directory on IPFS. The contract's URIs then point there and can never change again. From this call on, no metadata can be changed and no token with hosted metadata can be minted. If the request fails, both are possible again.",
  examples: { bodies: { "No fields": {}, "With a reference": { reference: REFERENCE } }, answer: acceptedExample },
  scope: "collections",
  params: addressParams,
  body: z.strictObject({ reference }).meta({ id: "FreezeCollection" }),
  response: accepted,
  errors: ["not_found", "wrong_hosting", "metadata_frozen", "quota_exceeded"],
  handle: async (deps, call) =>
    new Verbatim(await freezeMetadata(deps, call, call.params.address, call.body.reference)),
});

const listTokenHistory = defineEndpoint({
  method: "get",
  path: "/collections/:address/:token_id/history",
  summary: "List the history of a token, newest first",
  name: "listTokenHistory",
  description: "Includes transfers made outside the service: their `request_id` is null.",
  examples: { answer: { history: [historyExample], ...pageExample } },
  scope: "read",
  params: tokenParams,
  query: longPageQuery,
  response: historyPage,
  errors: ["not_found"],
  handle: async ({ database, lookUps }, { appId, params, query }) => {
    const collection = foundOne(await lookUps.collections([{ appId, address: params.address }]));
    const nft = found(await findMintedNft(database.read, collection.address, params.token_id.toString()));
    const token = { contract: nft.contract, tokenId: nft.token_id };
    const page = await storedHistory(database.read, appId, token, readPage(query, "token_history"));
    return pageAnswer(page, "token_history", "history", page.items.map(presentHistoryEntry));
  },
});

export const COLLECTIONS = [
  createCollection,
  listCollections,
  listNfts,
  changeCollection,
  freezeCollection,
  getNft,
  changeToken,
  listTokenHistory,
];
