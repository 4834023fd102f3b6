import type { Database } from "../../../../api/store/db/database.ts";
import { PlainERC721__factory } from "../../../../types/ethers-contracts/factories/mocks/PlainERC721__factory.ts";
import type { ApiClient } from "../../../support/api-client.ts";
import { readContract } from "../../../support/read-contract.ts";
import type { OwnService } from "../../../support/own-service.ts";
import { useService } from "../../../support/use-service.ts";
import { withDatabase } from "../../../../scripts/scene/scene.ts";

/** All roles but the relayer: requests are accepted and stay pending. */
export const NOT_SENDING = { ROLES: "api,indexer,webhooks" };

/**
 * Gives the tests of a `describe` block a stopped service. Its database was backed up while requests waited, and the
 * service continued after the backup.
 */
export function useOldBackup(): OldBackupFixture {
  // The service stops, and its database goes back.
  const fixture = new OldBackupFixture(useService({ start: false }));
  before("make the backup", () => fixture.prepare());
  return fixture;
}

class OldBackupFixture {
  readonly moneta: OwnService;
  wallets: [string, string, string] = ["", "", ""];
  erc721 = "";
  erc1155 = "";
  /** Requests that wait at the time of the backup, and are completed after it. */
  waiting = { mint: "", numbered: "", create: "", transfer: "", collection: "" };
  /** Created after the backup. */
  lost = { wallet: "", nameless: "", collection: "" };
  /** Cursor of the last event before the backup was restored. */
  oldCursor = "";
  restoreBackup: () => Promise<void> = () => Promise.reject(new Error("There is no backup yet."));

  constructor(moneta: OwnService) {
    this.moneta = moneta;
  }

  /** For `useOldBackup` only. */
  async prepare(): Promise<void> {
    await this.#workBeforeBackup();
    await this.#acceptWaiting();
    this.restoreBackup = await this.moneta.database.backUp();
    await this.#workAfterBackup();
  }

  withDatabase<T>(work: (database: Database) => Promise<T>): Promise<T> {
    return withDatabase(this.moneta.databaseUrl, work);
  }

  /** Runs work whose changes to the database the next test must not see. */
  async undoing(work: () => Promise<void>): Promise<void> {
    const restore = await this.moneta.database.backUp();
    await work();
    await restore();
  }

  async #workBeforeBackup(): Promise<void> {
    const { api } = this.moneta;
    await this.moneta.start();
    this.wallets = [await api.wallet(), await api.wallet(), await api.wallet()];
    this.erc721 = await api.collection({ type: "ERC721" });
    this.erc1155 = await api.collection({ type: "ERC1155" });
    await api.completed("/v1/nfts", { collection_address: this.erc721, to_address: this.wallets[0], name: "First" });
    await this.moneta.stop();
  }

  async #acceptWaiting(): Promise<void> {
    const { erc721, erc1155, wallets, moneta } = this;
    const { api } = moneta;
    const [w1, w2] = wallets;
    await moneta.start(NOT_SENDING);
    const mint = (to: string, name: string) => ({
      collection_address: erc721,
      to_address: to,
      name,
      unlockable_content: `of ${name}`,
    });
    const create = { collection_address: erc1155, initial_owner: w1, token_id: 9, initial_supply: 5, name: "Nine" };
    const transfer = { from_address: w1, to_address: w2, contract_address: erc721, token_id: 1 };
    this.waiting = {
      mint: await api.accept("/v1/nfts", mint(w1, "Waiting")),
      numbered: await api.accept("/v1/nfts", mint(w2, "Numbered")),
      create: await api.accept("/v1/nfts", create),
      transfer: await api.accept("/v1/transfers", transfer),
      collection: await api.accept("/v1/collections", { type: "ERC721", name: "Waiting", symbol: "WTG" }),
    };
    await this.moneta.stop();
    // The state after a relayer crashed between claiming and signing.
    await this.withDatabase((database) =>
      database.write((trx) =>
        trx
          .updateTable("requests")
          .set({ number: "77", lane: 0, ready_at: null })
          .where("id", "=", this.waiting.numbered)
          .execute(),
      ),
    );
  }

  async #workAfterBackup(): Promise<void> {
    const { erc721, wallets, moneta } = this;
    const { api } = moneta;
    const [w1, w2] = wallets;
    await moneta.start();
    for (const id of Object.values(this.waiting)) {
      const { status } = await api.settled(id);
      if (status !== "completed") throw new Error(`request ${id} is ${status}`);
    }
    const { address: wallet } = await api.ok<{ address: string }>("POST", "/v1/accounts", { user_identifier: "late" });
    const collection = await api.collection({ type: "ERC721", name: "Late", symbol: "LTE" });
    this.lost = { wallet, nameless: await api.wallet(), collection };
    await api.completed("/v1/nfts", { collection_address: collection, to_address: wallet, name: "Late one" });
    await api.completed("/v1/nfts", { collection_address: erc721, to_address: this.lost.nameless });
    const moved = { contract_address: erc721, token_id: 4, from_address: this.lost.nameless, to_address: wallet };
    await api.completed("/v1/transfers", moved);
    // A wallet that delegates (EIP-7702) to transfer a foreign token.
    const plain = await (
      await new PlainERC721__factory(await moneta.provider.getSigner(4)).deploy()
    ).waitForDeployment();
    const foreign = await plain.getAddress();
    await (await plain.mint(w1, 1)).wait();
    await readContract(api, w1, foreign);
    await api.completed("/v1/transfers", { from_address: w1, to_address: w2, contract_address: foreign, token_id: 1 });
    this.oldCursor = await lastEvent(api);
    await this.moneta.stop();
  }
}

async function lastEvent(api: ApiClient): Promise<string> {
  let [query, cursor] = ["", ""];
  for (;;) {
    const { events, next } = await api.ok<{ events: object[]; next: string }>("GET", `/v1/events?limit=30${query}`);
    if (events.length === 0) return cursor;
    [query, cursor] = [`&after=${next}`, next];
  }
}
