import { expect } from "chai";

import { AcceptQueue } from "../../../api/commands/accept-queue.ts";
import { createWalletDerivation } from "../../../api/commands/create-wallet.ts";
import { createLookUps } from "../../../api/commands/look-ups.ts";
import { mint } from "../../../api/commands/mint.ts";
import { transfer } from "../../../api/commands/transfer.ts";
import { DEFAULT_LIMITS } from "../../../api/config/limits.ts";
import { createKeyring } from "../../../api/keys/keyring.ts";
import { newSeedPhrase } from "../../../api/keys/seed-file.ts";
import { createWalletDeriver } from "../../../api/keys/wallet-deriver.ts";
import { NO_METRICS } from "../../../api/shared/metrics.ts";
import { orderedId } from "../../../api/shared/ids.ts";
import { setQuotas } from "../../../api/store/apps/quotas.ts";
import type { Database } from "../../../api/store/db/database.ts";
import type { Db, Trx } from "../../../api/store/db/sql.ts";
import { addCollection, addMint, addWallet } from "../support/api-rows.ts";
import { RELAY } from "../support/api.ts";
import { randomAddress } from "../support/rows.ts";
import { statementCounter } from "../support/statement-counter.ts";
import { useApi } from "../support/use-api.ts";

/** The same database, which counts the statements of reads and writes. */
function counting(database: Database): { database: Database; taken: () => number } {
  const { plugin, taken } = statementCounter();
  const counted = <T extends Db | Trx>(db: T): T => db.withPlugin(plugin) as T;
  return {
    database: {
      ...database,
      read: counted(database.read),
      write: (operation) => database.write((trx) => operation(counted(trx))),
      writeGroup: (operation) => database.writeGroup((trx) => operation(counted(trx))),
    },
    taken,
  };
}

const DERIVER = createWalletDeriver(createKeyring(newSeedPhrase()).walletsPublicKey);

describe("the SQL statements of a batch", () => {
  const api = useApi({ per: "block" });
  let wallet: string;
  before(async () => {
    wallet = await addWallet(api);
  });

  /** Statements for batches of 1, 100 and 1,000 items. */
  async function statements(kind: "mint" | "transfer", item: (index: number) => object): Promise<number[]> {
    const { database, taken } = counting(api.database);
    const limits = { ...DEFAULT_LIMITS, contracts: 10_000 };
    const deps = {
      database,
      deriveWallets: createWalletDerivation(DERIVER, database.read),
      acceptQueue: new AcceptQueue(database, api.sealer, { appGasPerDay: 1e15, limits }),
      lookUps: createLookUps(database.read),
      sealer: api.sealer,
      relay: RELAY,
      foreign: api.foreign,
      receivers: api.receivers,
      settings: { limits },
      signals: { requests: { notify: () => undefined }, media: { notify: () => undefined } },
      metrics: NO_METRICS,
    };
    let index = 0;
    const counts: number[] = [];
    // The first one also begins the app's usage of the day.
    for (const size of [1, 1, 100, 1_000]) {
      const items = Array.from({ length: size }, () => item(index++));
      const caller = {
        appId: api.app.id,
        credential: null,
        idempotency: { key: orderedId(), endpoint: "", text: "", value: {} },
      };
      taken();
      const { json } =
        kind === "mint"
          ? await mint(deps, caller, items as Parameters<typeof mint>[2], true)
          : await transfer(deps, caller, items as Parameters<typeof transfer>[2], true);
      counts.push(taken());
      const { results } = JSON.parse(json) as { results: { request_id?: string }[] };
      expect(results.filter(({ request_id: id }) => id !== undefined)).to.have.length(size);
    }
    return counts.slice(1);
  }

  function expectConstant(counts: number[]): void {
    const [single] = counts;
    expect(single).to.be.greaterThan(3);
    expect(counts).to.deep.equal([single, single, single]);
  }

  it("do not grow with its mints", async () => {
    const collection = await addCollection(api);
    const mints = () => ({ collection_address: collection, to_address: randomAddress(), unlockable_content: "secret" });
    expectConstant(await statements("mint", mints));
  });

  it("do not grow with its new users, also under a quota for wallets", async () => {
    const collection = await addCollection(api);
    await api.database.write((trx) => setQuotas(trx, api.app.id, { wallets: 10_000 }));
    const mints = (index: number) => ({ collection_address: collection, to_user: `user ${index.toString()}` });
    expectConstant(await statements("mint", mints));
    await api.database.write((trx) => setQuotas(trx, api.app.id, { wallets: null }));
  });

  it("do not grow with its new ERC1155 ids that copy media", async () => {
    const collection = await addCollection(api, { type: "ERC1155" });
    expectConstant(
      await statements("mint", (index) => ({
        collection_address: collection,
        token_id: BigInt(index),
        initial_owner: wallet,
        initial_supply: 1n,
        copy_media: true,
        image: "https://cats.example/1.png",
      })),
    );
  });

  it("do not grow with its transfers", async () => {
    const contract = await addCollection(api, { type: "ERC1155" });
    await addMint(api, { contract, to: wallet, tokenId: 1, quantity: 10_000, type: "ERC1155" });
    const places = { from_address: wallet, to_address: randomAddress(), contract_address: contract };
    expectConstant(await statements("transfer", () => ({ ...places, token_id: 1n, amount: 1n })));
  });

  it("do not grow with its contracts of others", async () => {
    const to = randomAddress();
    expectConstant(
      await statements("transfer", () => {
        const contract = randomAddress();
        api.foreign.contracts.set(contract, { type: "ERC721", name: "Elsewhere" });
        api.foreign.give(contract, "1", wallet);
        return { from_address: wallet, to_address: to, contract_address: contract, token_id: 1n };
      }),
    );
  });
});
