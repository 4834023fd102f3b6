import { expect } from "chai";
import { Transaction } from "ethers";

import { ChainUnavailable } from "../../../api/chain/errors.ts";
import { requestsOfBatches } from "../../../api/indexer/attribute-range.ts";
import { Relay__factory } from "../../../types/ethers-contracts/factories/Relay__factory.ts";
import { openTestDatabase, type TestDatabase } from "../../support/database.ts";
import { addBatch, fillBasics } from "../store/retention/support.ts";

const HASH = "hash-1-a";
/** The transaction of a batch that calls these numbers. */
function transactionOf(...numbers: bigint[]): Transaction {
  const calls = numbers.map((number) => ({ number, target: `0x${"11".repeat(20)}`, data: "0x", gasLimit: 1 }));
  const relay = Relay__factory.createInterface();
  const inputs = relay.getFunction("execute").inputs[0]?.arrayChildren?.components ?? [];
  const tuples = calls.map((call) => inputs.map(({ name }) => (call as Record<string, unknown>)[name] ?? 0));
  return Transaction.from({ to: `0x${"22".repeat(20)}`, data: relay.encodeFunctionData("execute", [tuples as never]) });
}

describe("requestsOfBatches", () => {
  let database: TestDatabase;
  let [id, request] = [0, ""];
  beforeEach(async () => {
    database = await openTestDatabase();
    await fillBasics(database);
    id = await addBatch(database, { nonce: 1 });
    const row = await database.read.selectFrom("requests").select("id").executeTakeFirstOrThrow();
    request = row.id;
    await database.write((trx) => trx.updateTable("requests").set({ number: "77" }).execute());
  });
  afterEach(() => database.remove());

  async function find(shown: Transaction | null) {
    const asked: string[] = [];
    const transactions = (hashes: string[]) => {
      asked.push(...hashes);
      return Promise.resolve(hashes.map(() => shown));
    };
    const requests = await requestsOfBatches(database, { transactions }, new Map([[HASH, id]]));
    return { asked, ids: requests.get(HASH)?.map((one) => one.id) };
  }
  const pruneItems = () => database.write((trx) => trx.deleteFrom("batch_items").execute());
  const failure = (shown: Transaction | null) =>
    find(shown).then(
      () => null,
      (error: unknown) => error,
    );

  it("reads the items, and asks the node for nothing", async () => {
    expect(await find(null)).to.deep.equal({ asked: [], ids: [request] });
  });

  describe("given a batch whose items were pruned", () => {
    beforeEach(pruneItems);

    it("finds the requests by the numbers in its transaction", async () => {
      expect(await find(transactionOf(77n))).to.deep.equal({ asked: [HASH], ids: [request] });
    });

    it("never guesses when the node does not have the transaction, or shows another one", async () => {
      expect(await failure(null)).to.be.instanceOf(ChainUnavailable);
      expect(await failure(Transaction.from({ data: "0x" }))).to.be.instanceOf(ChainUnavailable);
      expect(await failure(transactionOf(77n, 78n)))
        .to.be.instanceOf(Error)
        .with.property("message", "the database has no request with the number 78");
    });
  });
});
