import { expect } from "chai";

import type { CollectionType } from "../../../api/domain/command.ts";
import { unfollowContract } from "../../../api/store/ledger/indexed-contracts.ts";
import { describeOn } from "../../support/engine.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { useService } from "../../support/use-service.ts";
import { follow } from "../support/follow.ts";
import { chainState, IndexedCopy, type Manner } from "../support/indexed-copy.ts";
import { Random } from "../../../scripts/scene/random.ts";
import { RandomHistory } from "../support/random-history.ts";

const CONFIRMATIONS = 4;
/** More of them: `SLICE_SEEDS=1,2,3 npx mocha test/api/indexer/slices-equal.test.ts`. */
const SEEDS = (process.env["SLICE_SEEDS"] ?? "2,5").split(",").map(Number);
const ROUNDS = 4;

/** Ways to read and store the same chain. The first is the measure of the others. */
function mannersOf(random: Random): Manner[] {
  const plain = { blocks: 10_000, late: false, restarts: () => false, crashes: () => false };
  return [
    { ...plain, name: "whole, late", slice: () => Infinity, late: true },
    { ...plain, name: "each block, late", slice: () => 1, late: true },
    { ...plain, name: "read ahead, late", slice: () => random.integer(0, 8) + 1, blocks: 3, late: true },
    { ...plain, name: "whole", slice: () => Infinity },
    { ...plain, name: "each block", slice: () => 1 },
    { ...plain, name: "each block, in parts", slice: () => 1, largestHistory: 0 },
    { ...plain, name: "read ahead", slice: () => random.integer(0, 8) + 1, blocks: 3 },
    { ...plain, name: "not ahead", slice: () => 1, blocks: 1, restarts: () => true },
    {
      name: "crashing",
      slice: () => random.integer(0, 19) + 1,
      largestHistory: 0,
      blocks: 7,
      late: false,
      restarts: () => random.chance(0.2),
      crashes: () => random.chance(0.3),
    },
  ];
}

describeOn("sqlite", "the same chain, stored in slices of different sizes", () => {
  for (const seed of SEEDS) {
    describe(`given the random history ${seed.toString()}`, () => {
      // The service indexes with one confirmation, so that the history is made quickly. The copies use more.
      const moneta = useService({ proxy: true, settings: { CONFIRMATIONS: "1", LANES: "4" } });
      const random = new Random(seed);
      const copies: IndexedCopy[] = [];
      /** Contracts that were followed, not followed, and followed again. */
      const followedAgain = new Set<string>();
      let folder: Awaited<ReturnType<typeof temporaryFolder>>;

      before(async () => {
        folder = await temporaryFolder();
      });
      after(async () => {
        for (const copy of copies) await copy.close();
        await folder.remove();
      });

      const blocks = async (history: RandomHistory, count: number) => {
        for (let block = 0; block < count; block++) {
          // Some blocks are empty.
          for (let calls = random.chance(0.3) ? 0 : random.integer(0, 11); calls > 0; calls--) await history.outside();
          await history.mine();
        }
      };

      /** Requests of which some are in blocks and some are not, all of them signed. Nothing of it is indexed. */
      const makeHistory = async (): Promise<RandomHistory> => {
        const history = new RandomHistory(moneta, random);
        await history.prepare();
        moneta.intercept = ({ method }) =>
          method === "eth_getLogs" ? { error: { code: -32_000, message: "no" } } : undefined;
        await history.startAtHead();
        for (let group = 0; group < 4; group++) {
          await history.request();
          if (group >= 2) continue;
          await blocks(history, random.integer(0, 5) + 2);
          await history.adoptNewCollections();
        }
        await history.holdBatches();
        const chain = { url: moneta.node.url, contracts: moneta.service.contracts };
        await moneta.stop();
        for (const manner of mannersOf(random))
          copies.push(await IndexedCopy.create(moneta.databaseUrl, folder.path, manner, chain));
        return history;
      };

      /** Drops a few blocks, while each copy is somewhere else, and goes on. */
      const reorg = async (history: RandomHistory) => {
        const snapshot: unknown = await moneta.provider.send("evm_snapshot", []);
        const dropped = random.integer(0, 2) + 1;
        await blocks(history, dropped);
        const head = await moneta.provider.getBlockNumber();
        for (const copy of copies) {
          if (copy.manner.late) continue;
          // Often the last blocks before the reorg are read, and not stored.
          const to = random.chance(0.5) ? head - copy.manner.blocks : head;
          for (let steps = random.integer(0, 11); steps > 0 || to < head; steps--) {
            if ((await copy.checkpoint()) >= to || !(await copy.step(CONFIRMATIONS))) break;
          }
        }
        await moneta.provider.send("evm_revert", [snapshot]);
        await history.startAtHead();
        await blocks(history, dropped + random.integer(0, 7));
        for (const copy of copies) {
          // Blocks that were dropped after they were read are stored, and the next look finds that.
          do while (await copy.step(CONFIRMATIONS));
          while (await copy.step(CONFIRMATIONS));
          await copy.readForeign();
        }
      };

      const expectEqual = async () => {
        const [measure, ...others] = copies;
        if (measure === undefined) throw new Error("there are no copies");
        for (const { database, manner } of others) {
          const how = { exact: manner.late, followedAgain };
          const expected = await chainState(measure.database, how);
          for (const [table, rows] of Object.entries(await chainState(database, how))) {
            const what = `${table} of the copy "${manner.name}"`;
            // Two long lists that differ are hard to read.
            expect(onlyIn(rows, expected[table]), `more ${what}`).to.deep.equal([]);
            expect(rows, what).to.deep.equal(expected[table]);
          }
        }
      };

      /** Every copy ends or begins to follow a contract after the same block. */
      const followOther = async (address: string, type: CollectionType) => {
        if (random.chance(0.5)) return;
        const { appId: app } = moneta.app;
        for (const { database } of copies) {
          const ended = await database.write((trx) => unfollowContract(trx, app, address));
          if (ended) continue;
          await follow(database, { app, address, type });
          followedAgain.add(address);
        }
      };

      it("gives the same tables", async () => {
        const history = await makeHistory();
        for (let round = 0; round < ROUNDS; round++) {
          await reorg(history);
          await expectEqual();
          await followOther(history.foreign.erc721, "ERC721");
          await followOther(history.foreign.erc1155, "ERC1155");
        }
      });
    });
  }
});

/** The rows that the other list does not have. */
function onlyIn(rows: readonly object[], others: readonly object[] = []): object[] {
  const known = new Set(others.map((row) => JSON.stringify(row)));
  return rows.filter((row) => !known.has(JSON.stringify(row)));
}
