import { z } from "zod";

import type { Scope } from "../../commands/api-tokens.ts";
import { createWallet } from "../../commands/create-wallet.ts";
import { renameWallet } from "../../commands/rename-wallet.ts";
import { followContents } from "../../commands/follow-contents.ts";
import { sealedPlace } from "../../keys/sealer.ts";
import { listWallets, searchWallets } from "../../store/apps/wallets.ts";
import { acceptsUnboundValues } from "../../store/db/meta.ts";
import type { WalletRow } from "../../store/db/schema.ts";
import { listWalletHistory as list } from "../../store/listings/history.ts";
import { type ContentsFilter, listContents as storedContents } from "../../store/listings/holdings.ts";
import type { HttpDeps } from "../deps.ts";
import { defineEndpoint, Verbatim } from "../endpoint.ts";
import { heldNftExample, historyExample, pageExample, walletExample } from "../examples.ts";
import { foundOne, placeOf, presentHeldNft, presentHistoryEntry, presentWallet } from "../present.ts";
import { historyPage } from "../schemas/history.ts";
import { optional, userIdentifier } from "../schemas/inputs.ts";
import { contractNftsPage, heldNftsPage } from "../schemas/nfts.ts";
import { address, watchOnly } from "../schemas/outputs.ts";
import {
  listingOf,
  longPageQuery,
  pageAnswer,
  pageFrameFields,
  type PageInput,
  pageSchema,
  pageOfFound,
  pageQuery,
  readPage,
  searchableQuery,
} from "../schemas/pages.ts";
import { addressParams, contractParams, contractTokenParams, userParams } from "../schemas/params.ts";

const user = z.string().nullable().describe("The app's own name for the user. null for a wallet without one.");

const account = z.object({ address, user_identifier: user, watch_only: watchOnly }).meta({ id: "Wallet" });

const accountsPage = z.object({ wallets: pageSchema(account), ...pageFrameFields }).meta({ id: "WalletsPage" });

const createAccountBody = z
  .strictObject({
    user_identifier: optional(userIdentifier).describe(
      "The app's own name for the user who has the wallet. Unique in the app. Not `.` or `..`, no control characters. Without it, the wallet has no user, until `PATCH /v1/accounts/{address}` gives it one.",
    ),
  })
  .meta({ id: "CreateWallet" });

const createAccount = defineEndpoint({
  method: "post",
  path: "/accounts",
  summary: "Create a wallet",
  name: "createAccount",
  description:
    "The same user of the same app always gets the same address, unless the wallet there was renamed: then the user gets another address. The wallet exists at once, without a transaction. **Without `user_identifier` each call creates another wallet**: store its address.",
  examples: {
    bodies: { "For a user": { user_identifier: "alice" }, "Without a user": {} },
    answer: walletExample,
  },
  scope: "accounts",
  body: createAccountBody,
  response: account,
  idempotent: true,
  errors: ["user_identifier_taken", "quota_exceeded"],
  handle: async (deps, call) => new Verbatim(await createWallet(deps, call, call.body.user_identifier ?? null)),
});

const listAccounts = defineEndpoint({
  method: "get",
  path: "/accounts",
  summary: "List the app's wallets",
  name: "listAccounts",
  examples: { answer: { wallets: [walletExample], ...pageExample } },
  scope: "read",
  query: searchableQuery("user identifier"),
  response: accountsPage,
  handle: async ({ database, lookUps }, { appId, query: { addresses, search, order = "oldest", ...query } }) => {
    const listing = listingOf("wallets", order, "oldest");
    const wanted = readPage(query, listing);
    const page =
      addresses !== undefined
        ? pageOfFound(await lookUps.wallets([...new Set(addresses)].map((address) => ({ appId, address }))))
        : search !== undefined
          ? pageOfFound(await searchWallets(database.read, appId, search, wanted.limit), wanted.limit)
          : await listWallets(database.read, appId, order, wanted);
    return pageAnswer(page, listing, "wallets", page.items.map(presentWallet));
  },
});

const getAccountOfUser = defineEndpoint({
  method: "get",
  path: "/accounts/user/:user_identifier",
  summary: "Show the wallet of a user",
  name: "getAccountOfUser",
  description: "Escape the identifier in the path (percent-encoding).",
  examples: { answer: walletExample },
  scope: "read",
  params: userParams,
  response: account,
  errors: ["not_found"],
  isSmall: true,
  handle: async ({ lookUps }, { appId, params }) => {
    const user = { appId, userIdentifier: params.user_identifier };
    return presentWallet(foundOne(await lookUps.walletsOfUsers([user])));
  },
});

const renameAccount = defineEndpoint({
  method: "patch",
  path: "/accounts/:address",
  summary: "Rename the user of a wallet, or remove the user identifier",
  name: "renameAccount",
  description:
    "The wallet keeps its address, tokens and history. Every answer, event and webhook call has the new name, also for what happened before. A wallet that is created for the old name gets another address.",
  examples: {
    bodies: { "Another name": { user_identifier: "alice" }, "No name": { user_identifier: null } },
    answer: walletExample,
  },
  scope: "users",
  params: addressParams,
  body: z
    .strictObject({
      user_identifier: userIdentifier
        .nullable()
        .describe("The app's new name for the user, by the rules of `POST /v1/accounts`. null removes the name."),
    })
    .meta({ id: "RenameWallet" }),
  response: account,
  errors: ["not_found", "user_identifier_taken"],
  handle: async (deps, { appId, params, body }) =>
    presentWallet(await renameWallet(deps, appId, params.address, body.user_identifier)),
});

const listWalletHistory = defineEndpoint({
  method: "get",
  path: "/accounts/:address/history",
  summary: "List the history of a wallet, newest first",
  name: "listWalletHistory",
  description: "Includes transfers made outside the service: their `request_id` is null.",
  examples: { answer: { history: [historyExample], ...pageExample } },
  scope: "read",
  params: addressParams,
  query: longPageQuery,
  response: historyPage,
  errors: ["not_found"],
  handle: async ({ database, lookUps }, { appId, params, query }) => {
    const wallet = foundOne(await lookUps.wallets([{ appId, address: params.address }]));
    const page = await list(database.read, appId, wallet.address, readPage(query, "wallet_history"));
    return pageAnswer(page, "wallet_history", "history", page.items.map(presentHistoryEntry));
  },
});

const listContents = defineEndpoint({
  method: "get",
  path: "/accounts/:address",
  summary: "List the tokens in a wallet",
  name: "listContents",
  description:
    "Tokens of the service's collections, and of the contracts of others that the app follows: those that it named in a transfer, or in a call for a wallet's tokens with the scope `contracts`.",
  examples: { answer: { nfts: [heldNftExample], ...pageExample } },
  scope: "read",
  params: addressParams,
  query: pageQuery,
  response: heldNftsPage,
  errors: ["not_found"],
  handle: (deps, { appId, params, query }) => contentsPage(deps, appId, params.address, query),
});

const listContentsOfContract = defineEndpoint({
  method: "get",
  path: "/accounts/:address/:contract_address",
  summary: "List a wallet's tokens of one contract",
  name: "listContentsOfContract",
  description:
    "Works for any ERC721 or ERC1155 contract. If another party deployed it, a token with the scope `contracts` makes the app follow it from this call on. The call itself reads only the database: the chain is read in the background, and `as_of_block` says as of which block the list is complete. Without the scope the call answers what is stored.",
  examples: { answer: { nfts: [heldNftExample], ...pageExample, as_of_block: 21_000_000 } },
  scope: "read",
  params: contractParams,
  query: pageQuery,
  response: contractNftsPage,
  errors: ["not_found", "contract_not_supported", "too_many_contracts"],
  handle: (deps, { appId, scopes, params, query }) =>
    contractContentsPage(
      deps,
      { appId, scopes },
      params.address,
      { contract: params.contract_address, tokenId: null },
      query,
    ),
});

const listContentsOfToken = defineEndpoint({
  method: "get",
  path: "/accounts/:address/:contract_address/:token_id",
  summary: "Show a wallet's holding of one token",
  name: "listContentsOfToken",
  description:
    "The page is empty when the wallet does not hold the token. The contract is followed as in the call above.",
  examples: { answer: { nfts: [heldNftExample], ...pageExample, as_of_block: 21_000_000 } },
  scope: "read",
  params: contractTokenParams,
  query: pageQuery,
  response: contractNftsPage,
  errors: ["not_found", "contract_not_supported", "too_many_contracts"],
  handle: (deps, { appId, scopes, params, query }) => {
    const filter = { contract: params.contract_address, tokenId: params.token_id.toString() };
    return contractContentsPage(deps, { appId, scopes }, params.address, filter, query);
  },
});

interface CallerWithScopes {
  appId: string;
  scopes: readonly Scope[];
}

/** A page of all tokens in one of the app's wallets. */
async function contentsPage(deps: HttpDeps, appId: string, address: string, query: PageInput) {
  const wallet = foundOne(await deps.lookUps.wallets([{ appId, address }]));
  return tokensPage(deps, { wallet, filter: null, listing: "contents" }, query, {});
}

/** A page of the tokens of one contract, or of one token, in one of the app's wallets. */
async function contractContentsPage(
  deps: HttpDeps,
  caller: CallerWithScopes,
  address: string,
  filter: ContentsFilter,
  query: PageInput,
) {
  const wallet = foundOne(await deps.lookUps.wallets([{ appId: caller.appId, address }]));
  const part = { wallet, filter, listing: "contents_of_contract" };
  readPage(query, part.listing);
  // Read before the holdings: they may be newer than this block, never older.
  const following = { ...deps, quota: deps.settings.limits.contracts };
  const asOf = await followContents(following, caller, wallet.address, filter);
  return tokensPage(deps, part, query, { as_of_block: asOf });
}

async function tokensPage<R extends object>(
  deps: HttpDeps,
  { wallet, filter, listing }: { wallet: WalletRow; filter: ContentsFilter | null; listing: string },
  query: PageInput,
  rest: R,
) {
  const page = await storedContents(deps.database.read, wallet.address, filter, readPage(query, listing));
  const place = placeOf(deps);
  let accepts: Promise<boolean> | null = null;
  // Read once for the page, and only if a value of it needs that.
  const acceptsUnbound = () => (accepts ??= acceptsUnboundValues(deps.database.read));
  const nfts = [];
  for (const nft of page.items) {
    const { unlockable, requestId } = nft;
    // Most tokens have no content, and an `await` for each of them would cost more than all else.
    const content =
      unlockable === null || requestId === null || wallet.watch_only === 1
        ? null
        : await deps.sealer.open(unlockable, sealedPlace("unlockable", requestId), acceptsUnbound);
    nfts.push(presentHeldNft(place, nft, content));
  }
  return pageAnswer(page, listing, "nfts", nfts, rest);
}

export const ACCOUNTS = [
  createAccount,
  listAccounts,
  getAccountOfUser,
  renameAccount,
  listWalletHistory,
  listContents,
  listContentsOfContract,
  listContentsOfToken,
];
