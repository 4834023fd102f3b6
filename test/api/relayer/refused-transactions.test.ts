import { expect } from "chai";
import type { Transaction } from "ethers";

import { isEmpty } from "../../../api/chain/transaction.ts";
import type { Shape } from "../../../client/client.ts";
import { ERC721Collection__factory } from "../../../types/ethers-contracts/factories/ERC721Collection__factory.ts";
import { BROADCAST_ERRORS } from "../support/broadcast-errors.ts";
import { randomAddress } from "../support/rows.ts";
import { type LogLine, logLines } from "../../support/log-lines.ts";
import { useService } from "../../support/use-service.ts";
import { nothingOpen, onBroadcast } from "./support/broadcasts.ts";

const WITH_ERROR = BROADCAST_ERRORS.filter(([, , answer]) => answer !== "accepted" && answer !== "nonce-used");
const REFUSALS = ["gas-too-low", "gas-too-high", "refused"];

/** The node is real. A proxy in front of it refuses transactions with the words of other nodes. */
function useRefusingNode(settings: Record<string, string>) {
  const log = logLines("warn");
  // Its settings say when transactions are replaced, and the tests read its log.
  const moneta = useService({ proxy: true, logger: log.logger, tuned: { rebroadcastSeconds: 1 }, settings });
  let collection: string;
  before(async () => {
    collection = await moneta.api.collection({ type: "ERC721" });
  });
  beforeEach(() => {
    log.lines.length = 0;
  });

  /** Answers a broadcast with an error; null: the node gets it. @returns the different transactions, in order. */
  function refuse(words: (transaction: Transaction, count: number) => string | null): Transaction[] {
    let count = 0;
    return onBroadcast(moneta, (transaction) => {
      const message = words(transaction, (count += 1));
      return message === null ? undefined : { error: { code: -32_000, message } };
    });
  }
  const minted = () => ERC721Collection__factory.connect(collection, moneta.provider).totalMinted();
  return {
    moneta,
    refuse,
    minted,
    logged: (part: string) => (log.lines as (LogLine & { answer?: string })[]).filter(({ msg }) => msg.includes(part)),
    /** Mints in one call: they share a batch. @returns the requests, when they are final. */
    mint: async (...owners: string[]): Promise<Shape<"Request">[]> => {
      const items = owners.map((to) => ({ collection_address: collection, to_address: to }));
      const ids = await moneta.api.acceptBatch("/v1/nfts/batch", items);
      return Promise.all(ids.map((id) => moneta.api.settled(id)));
    },
  };
}

describe("refused transactions", () => {
  // Nothing is replaced for its age: what is replaced here is replaced because of the node's answer.
  const { moneta, refuse, minted, logged, mint } = useRefusingNode({ REPLACE_SECONDS: "3600" });

  for (const [name, words, answer] of WITH_ERROR.filter(([, , kind]) => kind.startsWith("gas-"))) {
    it(`signs the same calls again with another gas limit (${name})`, async () => {
      const before = await minted();
      const sent = refuse((_transaction, count) => (count === 1 ? words : null));
      const [request] = await mint(await moneta.api.wallet());
      expect(request?.status).to.equal("completed");
      const [first, second] = sent;
      expect(sent.slice(0, 2).map(({ nonce }) => nonce)).to.deep.equal([first?.nonce, first?.nonce]);
      expect(second?.data).to.equal(first?.data);
      if (answer === "gas-too-low") expect(Number(second?.gasLimit)).to.be.greaterThan(Number(first?.gasLimit));
      else expect(Number(second?.gasLimit)).to.be.lessThan(Number(first?.gasLimit));
      await nothingOpen(moneta);
      expect((await minted()) - before).to.equal(1n);
      expect(logged("the node refused a transaction").map((line) => line.answer)).to.deep.equal([answer]);
    });
  }

  for (const [name, words] of WITH_ERROR.filter(([, , kind]) => kind === "refused")) {
    it(`closes the nonce at once and sends smaller batches, until only the refused request fails (${name})`, async () => {
      const before = await minted();
      const poison = randomAddress();
      const isPoisoned = ({ data }: Transaction) => data.includes(poison.slice(2).toLowerCase());
      const sent = refuse((transaction) => (isPoisoned(transaction) ? words : null));
      const owner = await moneta.api.wallet();
      const requests = await mint(owner, poison, owner);
      expect(requests.map(({ status }) => status)).to.deep.equal(["completed", "failed", "completed"]);
      expect(requests[1]).to.deep.include({ error_code: "transaction_refused" });
      await nothingOpen(moneta);
      expect((await minted()) - before).to.equal(2n);
      // Under a nonce whose transaction was refused there are only the same calls, or none.
      for (const [, versions] of Map.groupBy(sent, ({ nonce }) => nonce)) {
        const calls = new Set(versions.filter(({ serialized }) => !isEmpty(serialized)).map(({ data }) => data));
        expect(calls.size).to.equal(1);
        expect(versions.filter(isPoisoned)).to.have.length.at.most(1);
      }
      expect(logged("the node refuses the transaction of a request")).to.have.length(1);
    });
  }

  // One message of each kind: that all of them have these kinds is tested where they are classified.
  const passing = WITH_ERROR.filter(([, , kind]) => !REFUSALS.includes(kind) && kind !== "unknown");
  for (const [name, words, answer] of new Map(passing.map((row) => [row[2], row])).values()) {
    it(`sends the same bytes again after an answer that passes (${name})`, async () => {
      const before = await minted();
      const sent = refuse((_transaction, count) => (count <= 2 ? words : null));
      const [request] = await mint(await moneta.api.wallet());
      expect(request?.status).to.equal("completed");
      await nothingOpen(moneta);
      expect((await minted()) - before).to.equal(1n);
      expect(sent.filter(({ serialized }) => isEmpty(serialized))).to.deep.equal([]);
      const reported = logged("the node refused a transaction").map((line) => line.answer);
      expect(reported).to.deep.equal(answer === "no-funds" ? ["no-funds"] : []);
    });
  }
});

describe("transactions that the node refuses with an unknown error", () => {
  const { moneta, refuse, minted, logged, mint } = useRefusingNode({ REPLACE_SECONDS: "1" });

  it("end the same way after some minutes: only the refused request fails, and each error is logged once", async () => {
    const before = await minted();
    const poison = randomAddress();
    const sent = refuse(({ data }) => (data.includes(poison.slice(2).toLowerCase()) ? "computer says no" : null));
    const [completed, failed] = await mint(await moneta.api.wallet(), poison);
    expect([completed?.status, failed?.status, failed?.error_code]).to.deep.equal([
      "completed",
      "failed",
      "transaction_refused",
    ]);
    await nothingOpen(moneta);
    expect((await minted()) - before).to.equal(1n);
    const refused = sent.filter(({ data }) => data.includes(poison.slice(2).toLowerCase()));
    const nonces = new Set(refused.map(({ nonce }) => nonce));
    expect(refused.length).to.be.greaterThan(nonces.size);
    expect(logged("with an error that is not known")).to.have.length(nonces.size);
  });

  it("do not fail a request that the node accepts in the end", async () => {
    const sent = refuse((_transaction, count) => (count <= 4 ? "internal error" : null));
    const [request] = await mint(await moneta.api.wallet());
    expect(request?.status).to.equal("completed");
    expect(sent.length).to.be.greaterThan(1);
    await nothingOpen(moneta);
  });
});
