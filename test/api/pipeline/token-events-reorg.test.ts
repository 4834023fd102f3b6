import { expect } from "chai";
import type { JsonRpcSigner } from "ethers";

import type { AppEvent } from "../../../client/events.ts";
import type { Shape } from "../../../client/client.ts";
import { ERC721Collection__factory } from "../../../types/ethers-contracts/factories/ERC721Collection__factory.ts";
import type { RequestBody } from "../../support/api-client.ts";
import { eventually } from "../../support/eventually.ts";
import { useService } from "../../support/use-service.ts";

const CONFIRMATIONS = 4;
const REQUESTS = "sent,in_block,dropped,completed,error";
const TOKENS = "token.minted,token.burned,token.sent,token.received,token.transferred";

describe("events of requests and tokens, and reorganizations of the chain", () => {
  // The chain is reverted, and the service waits for more confirmations.
  const moneta = useService({ settings: { CONFIRMATIONS: CONFIRMATIONS.toString() } });
  const { api } = moneta;
  let outsider: JsonRpcSigner;

  before(async () => {
    outsider = await moneta.provider.getSigner(3);
  });

  const mine = async (blocks: number) => {
    for (let count = 0; count < blocks; count++) await moneta.provider.send("evm_mine", []);
  };
  const inBlock = (id: string) =>
    eventually(async () => {
      const found = await api.ok<RequestBody>("GET", `/v1/requests/${id}`);
      return found.block_number === null ? undefined : found;
    });
  async function final(id: string): Promise<RequestBody> {
    await inBlock(id);
    await mine(CONFIRMATIONS);
    return api.settled(id);
  }
  async function collection(): Promise<string> {
    const body = { type: "ERC721", name: "Reorg", symbol: "RRG" } as const;
    return (await final(await api.accept("/v1/collections", body))).nft_collection ?? "";
  }
  async function read(types: string): Promise<AppEvent[]> {
    const found: AppEvent[] = [];
    for (let after = "start"; ;) {
      const page = await api.ok<Shape<"EventsFeed">>("GET", `/v1/events?types=${types}&after=${after}`);
      if (page.events.length === 0) return found;
      found.push(...page.events);
      after = page.next;
    }
  }
  const ofRequest = async (id: string) => (await read(REQUESTS)).filter(({ request_id: of }) => of === id);
  const ofContract = async (address: string) =>
    (await read(TOKENS)).flatMap((event) =>
      "log_index" in event && event.contract_address === address ? [event] : [],
    );
  const words = (events: readonly AppEvent[]) => events.map(({ type }) => type);

  it("tell that a request is in a block and what it made, that the block was dropped, and its end, in this order", async () => {
    const to = await api.wallet();
    const address = await collection();
    const before: unknown = await moneta.provider.send("evm_snapshot", []);
    const id = await api.accept("/v1/nfts", { collection_address: address, to_address: to });
    const first = await inBlock(id);
    await moneta.caughtUp();
    const [, included] = await ofRequest(id);
    expect(included).to.include({ type: "in_block", nft_collection: address, nft_token_id: 1 });
    expect(included).to.include({ block_number: first.block_number, transaction_hash: first.transaction_hash });

    await moneta.provider.send("evm_setAutomine", [false]);
    await moneta.provider.send("evm_revert", [before]);
    await mine(3);
    await eventually(async () => ((await ofRequest(id)).length === 3 ? true : undefined));
    const dropped = (await ofRequest(id))[2];
    expect(dropped).to.include({ type: "dropped", block_number: first.block_number });
    expect(dropped).not.to.have.property("nft_token_id");
    // No token has moved as far as the app was told.
    expect(await ofContract(address)).to.deep.equal([]);

    await moneta.provider.send("evm_setAutomine", [true]);
    await mine(1);
    await final(id);
    expect(words(await ofRequest(id))).to.deep.equal(["sent", "in_block", "dropped", "in_block", "completed"]);
    const minted = await eventually(async () => {
      const events = await ofContract(address);
      return events.length === 0 ? undefined : events;
    });
    expect(words(minted)).to.deep.equal(["token.minted"]);
    expect(minted[0]).to.include({ request_id: id, to_address: to });
    // Readers who name no type see what they saw before.
    const { events } = await api.ok<Shape<"EventsFeed">>("GET", "/v1/events");
    expect(new Set(words(events))).to.deep.equal(new Set(["sent", "completed"]));
  });

  it("tell why a call failed in its block, before it is final", async () => {
    const [from, address] = [await api.wallet(), await collection()];
    await final(await api.accept("/v1/nfts", { collection_address: address, to_address: from }));
    await moneta.provider.send("evm_setAutomine", [false]);
    const move = { contract_address: address, token_id: 1, from_address: from, to_address: outsider.address };
    const id = await api.accept("/v1/transfers", move);
    await eventually(async () => {
      const { transactions } = (await moneta.provider.send("eth_getBlockByNumber", ["pending", false])) as {
        transactions: unknown[];
      };
      return transactions.length > 0 ? true : undefined;
    });
    // In the same block, before it.
    const owner = await moneta.impersonate(from);
    const contract = ERC721Collection__factory.connect(address, owner);
    await contract.transferFrom(from, outsider.address, 1, {
      gasLimit: 200_000,
      maxPriorityFeePerGas: 10n ** 12n,
      maxFeePerGas: 4n * 10n ** 12n,
    });
    await moneta.provider.send("evm_setAutomine", [true]);
    await mine(1);
    const failed = await final(id);
    const [, included, end] = await ofRequest(id);
    expect([included?.type, end?.type]).to.deep.equal(["in_block", "error"]);
    expect(included).to.include({ error_code: failed.error_code });
  });

  it("correct movements that a reorg deeper than the confirmations has undone, newest first, and tell the new ones", async () => {
    const alice = await api.wallet();
    const address = await collection();
    await final(await api.accept("/v1/nfts", { collection_address: address, to_address: outsider.address }));
    await eventually(async () => ((await ofContract(address)).length === 1 ? true : undefined));
    const before: unknown = await moneta.provider.send("evm_snapshot", []);
    const contract = ERC721Collection__factory.connect(address, outsider);
    await (await contract.transferFrom(outsider.address, alice, 1)).wait();
    const asAlice = contract.connect(await moneta.impersonate(alice));
    await (await asAlice.transferFrom(alice, outsider.address, 1)).wait();
    await mine(2 * CONFIRMATIONS);
    const told = await eventually(async () => {
      const events = await ofContract(address);
      return events.length === 3 ? events : undefined;
    });
    expect(words(told)).to.deep.equal(["token.minted", "token.received", "token.sent"]);

    await moneta.provider.send("evm_revert", [before]);
    await (await contract.transferFrom(outsider.address, alice, 1)).wait();
    await mine(4 * CONFIRMATIONS);
    const all = await eventually(async () => {
      const events = await ofContract(address);
      return events.length === 6 ? events : undefined;
    });
    expect(words(all.slice(3))).to.deep.equal(["corrected", "corrected", "token.received"]);
    for (const [index, event] of [told[2], told[1]].entries()) {
      if (event === undefined) throw new Error("no event");
      const correction = all[3 + index];
      expect(correction).to.deep.include({
        ...event,
        type: "corrected",
        corrects: event.id,
        id: correction?.id,
        created_at: correction?.created_at,
      });
    }
    expect(new Set(all.map(({ id }) => id)).size).to.equal(6);
    // Who reads only what is sent to wallets gets only the correction of that.
    const sent = (await read("token.sent")).flatMap((event) =>
      "log_index" in event && event.contract_address === address ? [event.type] : [],
    );
    expect(sent).to.deep.equal(["token.sent", "corrected"]);
    // Corrections of tokens are not for those who ask for corrections of requests.
    expect(words(await read("corrected"))).to.deep.equal([]);
  });
});
