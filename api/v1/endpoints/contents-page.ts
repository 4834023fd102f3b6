import { followContents } from "../../commands/follow-contents.ts";
import { type ContentsFilter, type HeldNft, listContents } from "../../store/listings/holdings.ts";
import type { HttpDeps } from "../deps.ts";
import { found } from "../present/not-found.ts";
import { presentHeldNft } from "../present/nft.ts";
import { placeOf } from "../present/uris.ts";
import { type PageInput, pageFrame, readPage } from "../schemas/pages.ts";

/** A page of the tokens in one of the app's wallets: all of them, or those of one contract, or one token. */
export async function contentsPage(
  deps: HttpDeps,
  appId: string,
  address: string,
  filter: ContentsFilter | null,
  query: PageInput,
) {
  const wallet = found(await deps.lookUps.wallet(appId, address));
  const listing = filter === null ? "contents" : "contents_of_contract";
  const wanted = readPage(query, listing);
  if (filter !== null) await followContents(deps, wallet.address, filter);
  // Read before the holdings, so that a newer holding never shows its secret too early.
  const confirmed = await deps.lookUps.confirmedBlock();
  const page = await listContents(deps.database.read, wallet.address, filter, wanted);
  const place = placeOf(deps);
  const nfts = await Promise.all(
    page.items.map(async (nft) => presentHeldNft(place, nft, await openUnlockable(deps, nft, confirmed))),
  );
  return { nfts, ...pageFrame(page, listing) };
}

/** The holder may read the content once the block of the transfer is final. */
async function openUnlockable(deps: HttpDeps, nft: HeldNft, confirmed: number): Promise<string | null> {
  if (nft.unlockable === null || nft.sinceBlock > confirmed) return null;
  return deps.sealer.open(nft.unlockable);
}
