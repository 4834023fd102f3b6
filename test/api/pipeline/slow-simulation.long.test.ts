import { expect } from "chai";

import { ERC721Collection__factory } from "../../../types/ethers-contracts/factories/ERC721Collection__factory.ts";
import type { ApiClient } from "../../support/api-client.ts";
import { eventually } from "../../support/eventually.ts";
import { Foreign } from "../../support/foreign.ts";
import { Mode } from "../../support/receiver-mode.ts";
import type { ProxiedCall } from "../../../scripts/scene/rpc-proxy.ts";
import { useService } from "../../support/use-service.ts";

/** For the simulations of a batch: the node answers the others within this time, however slow the machine is. */
const SECONDS = "5";

describe("receivers whose simulation takes too long", () => {
  // The time for a simulation is short, and one test starts the service again.
  const moneta = useService({ proxy: true, settings: { SIMULATION_SECONDS: SECONDS } });
  const { api } = moneta;
  const foreign = new Foreign(moneta);
  let other: ApiClient;
  let slow: string;
  let quick: string;
  let collections: { own: string; others: string };
  /** How often the node was asked to simulate a call to the slow receiver. */
  let asked: number;

  before(async () => {
    other = await moneta.createApp("other");
  });
  beforeEach(async () => {
    collections = {
      own: await api.collection({ type: "ERC721" }),
      others: await other.collection({ type: "ERC721" }),
    };
    quick = await foreign.programmed(Mode.accept);
    asked = 0;
  });

  function concernsSlow({ method, params }: ProxiedCall): boolean {
    if (method !== "eth_estimateGas") return false;
    const { data = "" } = params[0] as { data?: string };
    return data.toLowerCase().includes(slow.slice(2).toLowerCase());
  }
  /** The node never answers these simulations. @param most how many of them; the node answers the others. */
  function hang(most = Infinity): void {
    moneta.intercept = (call) => {
      if (!concernsSlow(call)) return undefined;
      asked += 1;
      return asked <= most ? new Promise(() => undefined) : undefined;
    };
  }
  const mint = (to: string) => ({ collection_address: collections.own, to_address: to });
  const mintOfOther = (to: string) => ({ collection_address: collections.others, to_address: to });
  const isAsked = () => eventually(() => Promise.resolve(asked > 0 ? true : undefined));

  it("sends the requests of other apps first, then those to a receiver that the node never finishes, each once", async () => {
    slow = await foreign.programmed(Mode.accept);
    hang();
    const slowIds = await Promise.all([1, 2, 3].map(() => other.accept("/v1/nfts", mintOfOther(slow))));
    await isAsked();
    const [toWallet, toContract] = await Promise.all([
      api.completed("/v1/nfts", mint(await api.wallet())),
      api.completed("/v1/nfts", mint(quick)),
    ]);
    const ended = await Promise.all(slowIds.map((id) => other.settled(id)));
    expect(ended.map(({ status }) => status)).to.deep.equal(["completed", "completed", "completed"]);
    for (const { block_number: block } of ended) {
      expect(block).to.be.greaterThan(toWallet.block_number ?? Infinity);
      expect(block).to.be.greaterThan(toContract.block_number ?? Infinity);
    }
    const collection = ERC721Collection__factory.connect(collections.others, moneta.provider);
    expect(await collection.balanceOf(slow)).to.equal(3n);
    expect(new Set(ended.map(({ nft_token_id: id }) => id)).size).to.equal(3);
    // With a batch, and alone: only the first of the three. The next ones are sent at once, without asking the node.
    expect(asked).to.equal(2);
    await other.completed("/v1/nfts", mintOfOther(slow));
    expect(asked).to.equal(2);
  });

  it("uses the result if the node finishes only when it is simulated alone: a mint that is rejected is not sent", async () => {
    slow = await foreign.programmed(Mode.reason);
    hang(1);
    const id = await other.accept("/v1/nfts", mintOfOther(slow));
    await isAsked();
    await api.completed("/v1/nfts", mint(quick));
    const failed = await other.settled(id);
    expect(failed).to.include({ status: "failed", error_code: "receiver_rejected", transaction_hash: null });
    // In the batch, alone, and again: the word of a single node is not believed at once.
    expect(asked).to.be.within(3, 5);
  });

  it("sends calls that are deferred when the service stops after the next start, each once", async () => {
    slow = await foreign.programmed(Mode.accept);
    hang();
    const ids = await Promise.all([1, 2].map(() => other.accept("/v1/nfts", mintOfOther(slow))));
    await isAsked();
    await moneta.restart();
    const ended = await Promise.all(ids.map((id) => other.settled(id)));
    expect(ended.map(({ status }) => status)).to.deep.equal(["completed", "completed"]);
    const collection = ERC721Collection__factory.connect(collections.others, moneta.provider);
    expect(await collection.balanceOf(slow)).to.equal(2n);
  });
});
