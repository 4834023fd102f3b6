import { expect } from "chai";

import { WebhookReceiver } from "../../../scripts/scene/receiver.ts";
import { ProgrammableReceiver__factory } from "../../../types/ethers-contracts/factories/mocks/ProgrammableReceiver__factory.ts";
import type { RequestBody } from "../../support/api-client.ts";
import { eventually } from "../../support/eventually.ts";
import { isSigned } from "../../support/is-signed.ts";
import { Mode } from "../../support/receiver-mode.ts";
import { useService } from "../../support/use-service.ts";

type Json = Record<string, unknown>;

describe("webhooks on a real node", () => {
  const moneta = useService();
  const { api } = moneta;
  let receiver: WebhookReceiver;
  let secret: string;

  before(async () => {
    receiver = await WebhookReceiver.listen();
    secret = (await api.ok<{ secret: string }>("PUT", "/v1/webhook", { url: receiver.url })).secret;
  });
  after(() => receiver.close());

  /** All webhook bodies of a request, once its final event has arrived. */
  async function toldOf(request: RequestBody): Promise<Json[]> {
    const of = (call: { body: Json }) => call.body["request_id"] === request.request_id;
    await receiver.received((call) => of(call) && call.body["type"] !== "sent");
    // A later test event has arrived, so no earlier delivery is still outstanding.
    const { event_id: id } = await api.ok<{ event_id: string }>("POST", "/v1/webhook/test", {});
    await receiver.received((call) => call.headers["webhook-id"] === id);
    const calls = receiver.calls.filter(of);
    for (const call of calls) {
      expect(isSigned(call, secret)).to.equal(true);
      expect(call.headers["webhook-id"]).to.equal(call.body["id"]);
      expect(call.headers["content-type"]).to.equal("application/json");
    }
    return calls.map(({ body: { id, created_at: at, ...body } }) => {
      expect(id).to.be.a("string");
      expect(at).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      return body;
    });
  }

  const common = (request: RequestBody, type: string) => ({
    request_id: request.request_id,
    request_type: type,
    transaction_hash: request.transaction_hash,
  });

  it("report a collection: `sent`, then `completed` with its address", async () => {
    const request = await api.completed("/v1/collections", { type: "ERC721", name: "A", symbol: "AAA" });
    expect(await toldOf(request)).to.deep.equal([
      { ...common(request, "collection"), type: "sent" },
      { ...common(request, "collection"), type: "completed", nft_collection: request.nft_collection },
    ]);
  });

  it("report an ERC721 mint, with the id as soon as it is known", async () => {
    const collection = await api.collection({ type: "ERC721" });
    const request = await api.completed("/v1/nfts", { collection_address: collection, to_address: await api.wallet() });
    expect(await toldOf(request)).to.deep.equal([
      { ...common(request, "mint"), type: "sent", nft_collection: collection },
      { ...common(request, "mint"), type: "completed", nft_collection: collection, nft_token_id: 1 },
    ]);
  });

  it("report a new ERC1155 id above 2^53 exactly, and more copies without a new token", async () => {
    const collection = await api.collection({ type: "ERC1155" });
    const [token, to] = [(2n ** 256n - 1n).toString(), await api.wallet()];
    const created = await api.completed("/v1/nfts", {
      collection_address: collection,
      initial_owner: to,
      token_id: token,
      initial_supply: 1,
    });
    const named = { nft_collection: collection, nft_token_id: token };
    expect(await toldOf(created)).to.deep.equal([
      { ...common(created, "mint"), type: "sent", ...named },
      { ...common(created, "mint"), type: "completed", ...named },
    ]);
    const more = { collection_address: collection, to_address: to, token_id: token, quantity: 3 };
    const minted = await api.completed("/v1/nfts", more);
    expect(await toldOf(minted)).to.deep.equal([
      { ...common(minted, "mint"), type: "sent" },
      { ...common(minted, "mint"), type: "completed" },
    ]);
  });

  it("report a transfer, and one that its receiver rejects, before or in the block, as an error with its code", async () => {
    const [from, collection] = [await api.wallet(), await api.collection({ type: "ERC721" })];
    await api.completed("/v1/nfts", {
      collection_address: collection,
      to_address: from,
      unlockable_content: "hidden words",
    });
    const fields = { from_address: from, contract_address: collection, token_id: 1 };
    const receiving = await new ProgrammableReceiver__factory(await moneta.provider.getSigner(3)).deploy();
    const refuse = async (mode: number) => {
      await (await receiving.program(mode)).wait();
      return api.done("/v1/transfers", { ...fields, to_address: await receiving.getAddress() });
    };
    const simulated = await refuse(Mode.reason);
    expect(simulated.transaction_hash).to.equal(null);
    expect(await toldOf(simulated)).to.deep.equal([
      { ...common(simulated, "transfer"), type: "error", error_code: "receiver_rejected" },
    ]);
    const refused = await refuse(Mode.acceptSimulated);
    expect(await toldOf(refused)).to.deep.equal([
      { ...common(refused, "transfer"), type: "sent" },
      { ...common(refused, "transfer"), type: "error", error_code: "receiver_rejected" },
    ]);
    // The reservation of the rejected transfer was released.
    const moved = await api.completed("/v1/transfers", { ...fields, to_address: await api.wallet() });
    expect(await toldOf(moved)).to.deep.equal([
      { ...common(moved, "transfer"), type: "sent" },
      { ...common(moved, "transfer"), type: "completed" },
    ]);
    expect(receiver.calls.map((call) => call.text).join("")).to.not.contain("hidden");
  });

  it("have the same bodies as the event feed, and all appear in the delivery log", async () => {
    const bodies: Json[] = [];
    for (let after = ""; ;) {
      const page = await api.ok<{ events: Json[]; next: string }>("GET", `/v1/events${after}`);
      bodies.push(...page.events);
      after = `?after=${page.next}`;
      if (page.events.length === 0) break;
    }
    const log = await eventually(async () => {
      const page = await api.ok<{ total: number; deliveries: { status: string }[] }>("GET", "/v1/webhook/deliveries");
      return page.deliveries.every((delivery) => delivery.status === "delivered") ? page : undefined;
    });
    expect(log.total).to.equal(receiver.calls.length);
    const told = receiver.calls.map((call) => call.body).filter((body) => body["type"] !== "test");
    const byId = (a: Json, b: Json) => String(a["id"]).localeCompare(String(b["id"]));
    expect([...told].sort(byId)).to.deep.equal([...bodies].sort(byId));
  });
});
