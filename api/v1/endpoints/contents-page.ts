import type { Scope } from "../../commands/access-token.ts";
import { followContents } from "../../commands/follow-contents.ts";
import { sealedPlace } from "../../keys/sealer.ts";
import { acceptsUnboundValues } from "../../store/db/meta.ts";
import { type ContentsFilter, type HeldNft, listContents } from "../../store/listings/holdings.ts";
import type { HttpDeps } from "../deps.ts";
import { found } from "../present/not-found.ts";
import { presentHeldNft } from "../present/nft.ts";
import { placeOf } from "../present/uris.ts";
import { type PageInput, pageAnswer, readPage } from "../schemas/pages.ts";

interface CallerWithScopes {
  appId: string;
  scopes: readonly Scope[];
}

/** A page of all tokens in one of the app's wallets. */
export async function contentsPage(deps: HttpDeps, appId: string, address: string, query: PageInput) {
  const wallet = found(await deps.lookUps.wallet(appId, address));
  return tokensPage(deps, { wallet: wallet.address, filter: null, listing: "contents" }, query, {});
}

/** A page of the tokens of one contract, or of one token, in one of the app's wallets. */
export async function contractContentsPage(
  deps: HttpDeps,
  caller: CallerWithScopes,
  address: string,
  filter: ContentsFilter,
  query: PageInput,
) {
  const wallet = found(await deps.lookUps.wallet(caller.appId, address));
  const part = { wallet: wallet.address, filter, listing: "contents_of_contract" };
  readPage(query, part.listing);
  // Read before the holdings: they may be newer than this block, never older.
  const following = { ...deps, quota: deps.settings.limits.contracts };
  const asOf = await followContents(following, caller, wallet.address, filter);
  return tokensPage(deps, part, query, { as_of_block: asOf });
}

async function tokensPage<R extends object>(
  deps: HttpDeps,
  { wallet, filter, listing }: { wallet: string; filter: ContentsFilter | null; listing: string },
  query: PageInput,
  rest: R,
) {
  // Read before the holdings, so that a newer holding never shows its secret too early.
  const confirmed = await deps.lookUps.confirmedBlock();
  const page = await listContents(deps.database.read, wallet, filter, readPage(query, listing));
  const place = placeOf(deps);
  const nfts = await Promise.all(
    page.items.map(async (nft) => presentHeldNft(place, nft, await openUnlockable(deps, nft, confirmed))),
  );
  return pageAnswer(page, listing, "nfts", nfts, rest);
}

/** The holder may read the content once the block of the transfer is final. */
async function openUnlockable(deps: HttpDeps, nft: HeldNft, confirmed: number): Promise<string | null> {
  const { unlockable, requestId } = nft;
  if (unlockable === null || requestId === null || nft.sinceBlock > confirmed) return null;
  const acceptsUnbound = () => acceptsUnboundValues(deps.database.read);
  return deps.sealer.open(unlockable, sealedPlace("unlockable", requestId), acceptsUnbound);
}
