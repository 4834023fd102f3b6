import type { Trx } from "../../../../api/store/db/sql.ts";

/** Addresses in the database that the damages change. */
interface DamagedRows {
  /** A wallet that has sent tokens. */
  from: string;
  /** A wallet that has received tokens. */
  to: string;
  erc721: string;
  erc1155: string;
  foreign: string;
}

/** Wrong rows that `reconcile` must correct, by description. */
export const DAMAGES: Record<string, (trx: Trx, at: DamagedRows) => Promise<unknown>> = {
  "a missing holding": (trx, { to, erc721 }) =>
    trx.deleteFrom("holdings").where("owner", "=", to).where("contract", "=", erc721).execute(),
  "a wrong quantity": (trx, { from, erc1155 }) =>
    trx
      .updateTable("holdings")
      .set({ quantity: "7" })
      .where("owner", "=", from)
      .where("contract", "=", erc1155)
      .execute(),
  "a holding of an account that holds nothing": (trx, { erc721, erc1155 }) =>
    trx
      .insertInto("holdings")
      .values({ contract: erc721, token_id: "2", owner: erc1155, quantity: "1", reserved: "0", since_block: 1 })
      .execute(),
  "a wrong supply": (trx, { erc1155 }) =>
    trx.updateTable("nfts").set({ supply: "11" }).where("contract", "=", erc1155).execute(),
  "a missing token": (trx, { erc721 }) =>
    trx.deleteFrom("nfts").where("contract", "=", erc721).where("token_id", "=", "2").execute(),
  "a token that nobody minted": (trx, { erc721 }) =>
    trx
      .insertInto("nfts")
      .values({
        contract: erc721,
        token_id: "9",
        request_id: null,
        supply: "1",
        reserved: "0",
        token_uri: null,
        metadata: null,
        minted_block: 3,
        minted_at: 3,
      })
      .execute(),
  "a token without its request": (trx) =>
    trx.updateTable("nfts").set({ request_id: null, metadata: null }).where("token_id", "=", "1").execute(),
  "a collection with another cap, count and owner": (trx, { erc721, erc1155 }) =>
    trx
      .updateTable("collections")
      .set({ max_supply: 3, minted: 1, owner: erc1155, service_may_mint: 0 })
      .where("address", "=", erc721)
      .execute(),
  "a collection with other copies, and other things frozen": (trx, { erc1155 }) =>
    trx
      .updateTable("collections")
      .set({ copies: "3", metadata_frozen: 2, royalty_frozen: 1 })
      .where("address", "=", erc1155)
      .execute(),
  "a missing transfer in the middle": async (trx) => {
    const first = await trx.selectFrom("transfers").select("id").orderBy("id").limit(1).executeTakeFirstOrThrow();
    await trx.deleteFrom("wallet_history").where("transfer_id", "=", first.id).execute();
    await trx.deleteFrom("transfers").where("id", "=", first.id).execute();
  },
  "a transfer with the wrong recipient": (trx, { erc721 }) =>
    trx.updateTable("transfers").set({ to_address: erc721 }).where("type", "=", "transfer").execute(),
  "a wallet without its history": (trx, { to }) => trx.deleteFrom("wallet_history").where("wallet", "=", to).execute(),
  "wrong totals": (trx) =>
    trx
      .updateTable("counters")
      .set({ value: 99 })
      // A position in a feed, usage, and the figures of the charts are not counted from rows.
      .where("key", "not like", "events:%")
      .where("key", "not like", "usage:%")
      .where("key", "not like", "series:%")
      .execute(),
  "a wrong holding of a foreign contract": (trx, { foreign }) =>
    trx.updateTable("holdings").set({ quantity: "2" }).where("contract", "=", foreign).execute(),
};
