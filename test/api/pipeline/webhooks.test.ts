import { expect } from "chai";

import { WebhookReceiver } from "../../../scripts/scene/receiver.ts";
import type { RequestBody } from "../../support/api-client.ts";
import { eventually } from "../../support/eventually.ts";
import { Foreign } from "../../support/foreign.ts";
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

  /** Whom and what it concerns, as the request itself says in the end. */
  const parties = ({ contract_address, token_id, quantity, ...rest }: RequestBody) => {
    const { from_address, to_address, from_user, to_user } = rest;
    return { contract_address, token_id, quantity, from_address, to_address, from_user, to_user };
  };
  const common = (request: RequestBody, type: string) => ({
    request_id: request.request_id,
    request_type: type,
    transaction_hash: request.transaction_hash,
    ...parties(request),
  });

  /**
   * The bodies of a request that completed: `sent`, then `completed`.
   * @param known what is known when it is sent. @param unknown what is not known by then.
   */
  async function expectCompleted(
    request: RequestBody,
    type: string,
    known: Json,
    found: Json = {},
    unknown: Json = {},
  ): Promise<void> {
    expect(await toldOf(request)).to.deep.equal([
      { ...common(request, type), type: "sent", ...known, ...unknown },
      { ...common(request, type), type: "completed", ...known, ...found },
    ]);
  }

  it("report a collection with its address, and mints with the id as soon as it is known, exactly above 2^53", async () => {
    const created = await api.completed("/v1/collections", { type: "ERC721", name: "A", symbol: "AAA" });
    const nft_collection = created.nft_collection ?? "";
    await expectCompleted(created, "collection", {}, { nft_collection }, { contract_address: null });
    const to = await api.wallet("webhooks-user");
    const minted = await api.mint(nft_collection, to);
    expect(parties(minted)).to.deep.equal({
      ...{ contract_address: nft_collection, token_id: 1, quantity: 1 },
      ...{ from_address: null, from_user: null, to_address: to, to_user: "webhooks-user" },
    });
    await expectCompleted(minted, "mint", { nft_collection }, { nft_token_id: 1 }, { token_id: null });

    const editions = await api.collection({ type: "ERC1155" });
    const token = (2n ** 256n - 1n).toString();
    const first = await api.create(editions, to, token, 1);
    await expectCompleted(first, "mint", { nft_collection: editions, nft_token_id: token });
    // More copies are no new token.
    await expectCompleted(await api.mint(editions, to, { token_id: token, quantity: 3 }), "mint", {});
  });

  it("report a transfer, and one that its receiver rejects, before or in the block, as an error with its code", async () => {
    const [from, collection] = [await api.wallet(), await api.collection({ type: "ERC721" })];
    await api.mint(collection, from, { unlockable_content: "hidden words" });
    const fields = { from_address: from, contract_address: collection, token_id: 1 };
    const refuse = async (mode: number) =>
      api.done("/v1/transfers", { ...fields, to_address: await new Foreign(moneta).programmed(mode) });
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
    await expectCompleted(moved, "transfer", {});
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
