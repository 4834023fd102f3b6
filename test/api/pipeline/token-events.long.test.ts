import { expect } from "chai";
import { ZeroAddress, ZeroHash } from "ethers";

import type { Shape } from "../../../client/client.ts";
import type { ERC1155Collection } from "../../../types/ethers-contracts/ERC1155Collection.ts";
import { ERC1155Collection__factory } from "../../../types/ethers-contracts/factories/ERC1155Collection__factory.ts";
import { ERC721Collection__factory } from "../../../types/ethers-contracts/factories/ERC721Collection__factory.ts";
import { eventually } from "../../support/eventually.ts";
import { useService } from "../../support/use-service.ts";

const REQUESTS = 1_000;
/** Movements by strangers: transactions, and ids that each moves. */
const [TRANSACTIONS, IDS] = [100, 100];
const TYPES = "completed,token.minted,token.burned,token.sent,token.received,token.transferred,gap";

/** A movement by its place on the chain. */
function placeOf(block: number, log: number, index: number): string {
  return [block, log, index].join("/");
}

describe("events of many movements by strangers beside requests", () => {
  const moneta = useService();
  const { api } = moneta;

  /** The movements of both collections on the chain: place and token. */
  async function movesOf(editions: ERC1155Collection, tokens: string): Promise<[string, string][]> {
    const copies = await editions.getAddress();
    const single = ERC721Collection__factory.connect(tokens, moneta.provider);
    const batches = await editions.queryFilter(editions.filters.TransferBatch());
    const creations = await editions.queryFilter(editions.filters.TransferSingle());
    const mints = await single.queryFilter(single.filters.Transfer(ZeroAddress));
    return [
      ...batches.flatMap((log) =>
        log.args.ids.map((id, index): [string, string] => [
          placeOf(log.blockNumber, log.index, index),
          `${copies} ${id.toString()}`,
        ]),
      ),
      ...creations.map((log): [string, string] => [
        placeOf(log.blockNumber, log.index, 0),
        `${copies} ${log.args.id.toString()}`,
      ]),
      ...mints.map((log): [string, string] => [
        placeOf(log.blockNumber, log.index, 0),
        `${tokens} ${log.args.tokenId.toString()}`,
      ]),
    ];
  }

  /** All events of the app of these types. */
  async function read(): Promise<Shape<"EventsFeed">["events"]> {
    const found: Shape<"EventsFeed">["events"] = [];
    for (let after = "start"; ;) {
      const page = await api.ok<Shape<"EventsFeed">>("GET", `/v1/events?types=${TYPES}&after=${after}`);
      found.push(...page.events);
      if (page.events.length === 0) return found;
      after = page.next;
    }
  }

  it("has each event once, and those of each token in the order of the chain", async () => {
    const wallet = await api.wallet();
    const [tokens, copies] = [await api.collection({ type: "ERC721" }), await api.collection({ type: "ERC1155" })];
    const [one, other] = [await moneta.provider.getSigner(3), await moneta.provider.getSigner(4)];
    const ids = Array.from({ length: IDS }, (_, index) => index + 1);
    const creations = ids.map((id) => ({
      ...{ collection_address: copies, token_id: id, initial_owner: one.address, initial_supply: 1_000 },
    }));
    for (const id of await api.acceptBatch("/v1/nfts/batch", creations)) await api.settled(id);
    const mint = { collection_address: tokens, to_address: wallet };
    const accepted = await api.acceptBatch(
      "/v1/nfts/batch",
      Array.from({ length: REQUESTS }, () => mint),
    );
    const contract = ERC1155Collection__factory.connect(copies, one);
    const quantities = ids.map(() => 1);
    for (let count = 0; count < TRANSACTIONS; count++)
      await (await contract.safeBatchTransferFrom(one.address, other.address, ids, quantities, ZeroHash)).wait();
    for (const id of accepted) await api.settled(id);

    const expected = await movesOf(contract, tokens);
    expect(expected).to.have.length(TRANSACTIONS * IDS + IDS + REQUESTS);

    const events = await eventually(async () => {
      const found = await read();
      return found.filter((event) => "log_index" in event).length >= expected.length ? found : undefined;
    });
    expect(new Set(events.map(({ id }) => id)).size).to.equal(events.length);
    expect(events.filter(({ type }) => type === "gap")).to.deep.equal([]);
    const told = events.flatMap((event) => ("log_index" in event ? [event] : []));
    const seen = told.map((event) => [
      placeOf(event.block_number, event.log_index, event.batch_index),
      `${event.contract_address} ${event.token_id.toString()}`,
    ]);
    expect(new Set(seen.map(String))).to.deep.equal(new Set(expected.map(String)));
    expect(seen).to.have.length(expected.length);
    for (const [token, ofToken] of Map.groupBy(
      told,
      (event) => `${event.contract_address} ${event.token_id.toString()}`,
    )) {
      const order = ofToken.map((event) => event.block_number * 1_000 + event.log_index);
      expect(order, token).to.deep.equal(order.toSorted((a, b) => a - b));
    }
    const completed = events.filter(({ type, request_id: id }) => type === "completed" && accepted.includes(id));
    expect(completed).to.have.length(REQUESTS);
  });
});
