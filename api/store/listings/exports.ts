import { sql } from "kysely";

import { compiledQuery } from "../db/compiled-query.ts";
import { isFinalBlock } from "../db/meta.ts";
import { pagesAfter } from "../db/pages.ts";
import type { WalletRow } from "../db/schema.ts";
import type { Db } from "../db/sql.ts";
import { changedBlock } from "./nfts.ts";

/** Rows that one statement reads: some milliseconds of work, between which other calls are answered. */
const CHUNK = 250;

/** A holding, and the app's own user who has the wallet; null: the owner is no such wallet. */
export interface ExportedHolding {
  user_identifier: string | null;
  owner: string;
  token_id: string;
  quantity: string;
  since_block: number;
  /** 1: the last change of the quantity is final. */
  is_final: number;
}

interface HoldingsWanted extends Record<string, string | number> {
  appId: string;
  contract: string;
  tokenId: string;
  owner: string;
}

/** The order of one index. The join reads the users of these rows only. */
const readHoldings = compiledQuery((db, wanted: HoldingsWanted) =>
  db
    .selectFrom(
      db
        .selectFrom("holdings")
        .select(["owner", "token_id", "quantity", "since_block", "changed_block"])
        .where("contract", "=", wanted.contract)
        .where(sql<boolean>`(token_id, owner) > (${wanted.tokenId}, ${wanted.owner})`)
        .orderBy("token_id")
        .orderBy("owner")
        .limit(sql.lit(CHUNK))
        .as("held"),
    )
    .leftJoin("wallets", (join) =>
      join.onRef("wallets.address", "=", "held.owner").on("wallets.app_id", "=", wanted.appId),
    )
    .select(["user_identifier", "owner", "token_id", "quantity", "since_block"])
    .select(isFinalBlock(changedBlock("held")).as("is_final"))
    .orderBy("token_id")
    .orderBy("owner"),
);

/** All holdings of a collection, token by token. @param appId the app whose users are named. */
export function exportHoldings(db: Db, appId: string, contract: string): AsyncGenerator<ExportedHolding[]> {
  const read = (after: Pick<HoldingsWanted, "tokenId" | "owner">) => readHoldings(db, { appId, contract, ...after });
  return pagesAfter({ tokenId: "", owner: "" }, read, ({ token_id: tokenId, owner }) => ({ tokenId, owner }));
}

const readWallets = compiledQuery((db, { appId, after }: { appId: string; after: number }) =>
  db
    .selectFrom("wallets")
    .selectAll()
    .where("app_id", "=", appId)
    .where("seq", ">", after)
    .orderBy("seq")
    .limit(sql.lit(CHUNK)),
);

/** All wallets of an app, oldest first. */
export function exportWallets(db: Db, appId: string): AsyncGenerator<WalletRow[]> {
  return pagesAfter(
    0,
    (after) => readWallets(db, { appId, after }),
    ({ seq }) => seq,
  );
}

const readUnlockable = compiledQuery((db, { appId, after }: { appId: string; after: number }) =>
  db
    .selectFrom("requests")
    .select(["seq", "id", "nft_collection", "nft_token_id", "unlockable"])
    .where("app_id", "=", appId)
    .where("seq", ">", after)
    .where("unlockable", "is not", null)
    .where("status", "=", sql.lit("completed"))
    .$narrowType<{ unlockable: string }>()
    .orderBy("seq")
    .limit(sql.lit(CHUNK)),
);

/** The unlockable content of an app's tokens, encrypted. */
export function exportUnlockable(db: Db, appId: string) {
  return pagesAfter(
    0,
    (after) => readUnlockable(db, { appId, after }),
    ({ seq }) => seq,
  );
}

/** The files that an app has stored here, in the order of their CIDs. */
export function exportMedia(db: Db, appId: string): AsyncGenerator<{ cid: string; type: string; size: number }[]> {
  return pagesAfter(
    "",
    (after) =>
      db
        .selectFrom("app_media")
        .innerJoin("media", "media.cid", "app_media.cid")
        .select(["media.cid", "media.type", "media.size"])
        .where("app_media.app_id", "=", appId)
        .where("app_media.cid", ">", after)
        .orderBy("app_media.cid")
        .limit(CHUNK)
        .execute(),
    ({ cid }) => cid,
  );
}
