import { expect } from "chai";
import { type JsonRpcSigner, ZeroHash } from "ethers";

import type { AppEvent } from "../../../client/events.ts";
import { answerOf, createClient, type Shape } from "../../../client/client.ts";
import { ERC1155Collection__factory } from "../../../types/ethers-contracts/factories/ERC1155Collection__factory.ts";
import { ERC721Collection__factory } from "../../../types/ethers-contracts/factories/ERC721Collection__factory.ts";
import type { ApiClient } from "../../support/api-client.ts";
import { EventReader } from "../../support/event-reader.ts";
import { eventually } from "../../support/eventually.ts";
import { Foreign } from "../../support/foreign.ts";
import { useService } from "../../support/use-service.ts";

type TokenEvent = Shape<"TokenEvent">;

const TOKENS = "token.minted,token.burned,token.sent,token.received,token.transferred";

describe("events of tokens on a real node", () => {
  const moneta = useService();
  const { api } = moneta;
  let other: ApiClient;
  let outsider: JsonRpcSigner;

  before(async () => {
    other = await moneta.createApp("other");
    outsider = await moneta.provider.getSigner(3);
  });

  /** Once there are so many of a contract: all of them, in the order of the feed. */
  const eventsOf = (contract: string, count: number, from = api) =>
    eventually(async () => {
      const found: TokenEvent[] = [];
      for (let after = "start"; ;) {
        const query = `after=${after}&types=${TOKENS}`;
        const page = await from.ok<Shape<"EventsFeed">>("GET", `/v1/events?${query}`);
        if (page.events.length === 0) break;
        const events = page.events as TokenEvent[];
        found.push(...events.filter(({ contract_address: address }) => address === contract));
        after = page.next;
      }
      if (found.length > count) throw new Error(`${found.length.toString()} events instead of ${count.toString()}`);
      return found.length === count ? found : undefined;
    });
  const brief = (event: TokenEvent) => [
    event.type,
    event.token_id,
    event.quantity,
    event.from_address,
    event.to_address,
    event.request_id,
  ];

  it("tell each app of the collection, and of the wallets at both ends, what the movement is for it", async () => {
    const [alice, bob] = [await api.wallet("alice"), await other.wallet("bob")];
    const address = await api.collection({ type: "ERC721" });
    const mint = await api.mint(address, alice);
    const sent = await api.move(address, 1, alice, bob);
    const contract = ERC721Collection__factory.connect(address, outsider);
    const asBob = contract.connect(await moneta.impersonate(bob));
    await (await asBob.transferFrom(bob, outsider.address, 1)).wait();
    await (await contract.transferFrom(outsider.address, alice, 1)).wait();
    await (await contract.connect(await moneta.impersonate(alice)).transferFrom(alice, alice, 1)).wait();
    const burnt = await (await contract.connect(await moneta.impersonate(alice)).burn(1)).wait();

    const own = await eventsOf(address, 6);
    expect(own.map(brief)).to.deep.equal([
      ["token.minted", 1, 1, null, alice, mint.request_id],
      ["token.sent", 1, 1, alice, bob, sent.request_id],
      ["token.transferred", 1, 1, bob, outsider.address, null],
      ["token.received", 1, 1, outsider.address, alice, null],
      ["token.sent", 1, 1, alice, alice, null],
      ["token.burned", 1, 1, alice, null, null],
    ]);
    // The other app must not see that a request of this one exists.
    expect((await eventsOf(address, 2, other)).map(brief)).to.deep.equal([
      ["token.received", 1, 1, alice, bob, null],
      ["token.sent", 1, 1, bob, outsider.address, null],
    ]);
    const { id, created_at: at, ...last } = own[5] ?? expect.fail("no event of the burn");
    const block = await moneta.provider.getBlock(burnt?.blockNumber ?? 0);
    expect(id).to.match(/^[0-9a-f-]{36}$/);
    expect(Date.parse(at)).to.be.closeTo(Date.now(), 600_000);
    expect(last).to.deep.equal({
      type: "token.burned",
      request_id: null,
      contract_address: address,
      token_id: 1,
      quantity: 1,
      from_address: alice,
      to_address: null,
      from_user: "alice",
      to_user: null,
      transaction_hash: burnt?.hash,
      block_number: burnt?.blockNumber,
      block_time: new Date((block?.timestamp ?? 0) * 1_000).toISOString(),
      // The approval is cleared without a log.
      log_index: 0,
      batch_index: 0,
    });
    // Names of users are those of the reader's app.
    expect((await eventsOf(address, 2, other)).map(({ from_user: from, to_user: to }) => [from, to])).to.deep.equal([
      [null, "bob"],
      ["bob", null],
    ]);
    const ids = [...own, ...(await eventsOf(address, 2, other))].map((event) => event.id);
    expect(new Set(ids).size).to.equal(8);
  });

  it("tell each id of a batch transfer, with its place, and quantities above 2^53 exactly", async () => {
    const alice = await api.wallet();
    const address = await api.collection({ type: "ERC1155" });
    const many = (2n ** 80n).toString();
    for (const [id, supply] of [
      [7, 10],
      [8, many],
    ] as const)
      await api.completed("/v1/nfts", {
        ...{ collection_address: address, initial_owner: outsider.address, token_id: id },
        initial_supply: supply,
      });
    const contract = ERC1155Collection__factory.connect(address, outsider);
    await (await contract.safeBatchTransferFrom(outsider.address, alice, [7, 8], [3, many], ZeroHash)).wait();
    const events = (await eventsOf(address, 4)).slice(2);
    expect(events.map(brief)).to.deep.equal([
      ["token.received", 7, 3, outsider.address, alice, null],
      ["token.received", 8, many, outsider.address, alice, null],
    ]);
    expect(events.map(({ batch_index: index }) => index)).to.deep.equal([0, 1]);
    expect(new Set(events.map(({ log_index: index }) => index)).size).to.equal(1);
  });

  it("tell of contracts of others what concerns wallets of the apps that follow them", async () => {
    const [alice, bob] = [await api.wallet(), await other.wallet()];
    const { contract, address } = await new Foreign(moneta).plain(outsider.address, 1, 2);
    await api.ok("GET", `/v1/accounts/${alice}/${address}`);
    const known = () => api.ok<{ as_of_block: number | null }>("GET", `/v1/accounts/${alice}/${address}`);
    await eventually(async () => ((await known()).as_of_block === null ? undefined : true));
    await (await contract.transferFrom(outsider.address, bob, 2)).wait();
    await (await contract.transferFrom(outsider.address, alice, 1)).wait();
    await (await contract.connect(await moneta.impersonate(alice)).transferFrom(alice, bob, 1)).wait();
    expect((await eventsOf(address, 2)).map(brief)).to.deep.equal([
      ["token.received", 1, 1, outsider.address, alice, null],
      ["token.sent", 1, 1, alice, bob, null],
    ]);
    // It does not follow the contract.
    expect(await eventsOf(address, 0, other)).to.deep.equal([]);
  });

  it("come only to a reader of the feed who names them, and pages of some types are complete", async () => {
    const alice = await api.wallet();
    const address = await api.collection({ type: "ERC721" });
    for (let count = 0; count < 4; count++) await api.mint(address, alice);
    await eventsOf(address, 4);
    const read = async (query: string, limit = 30) => {
      const found: AppEvent[] = [];
      for (let after = "start"; ;) {
        const path = `/v1/events?after=${after}&limit=${limit.toString()}${query}`;
        const page = await api.ok<Shape<"EventsFeed">>("GET", path);
        found.push(...page.events);
        if (page.events.length < limit) return found;
        after = page.next;
      }
    };
    const usual = await read("");
    expect(new Set(usual.map(({ type }) => type))).to.deep.equal(new Set(["sent", "completed"]));
    const minted = await read("&types=token.minted", 3);
    const both = await read("&types=completed,token.minted", 3);
    expect(new Set(minted.map(({ type }) => type))).to.deep.equal(new Set(["token.minted"]));
    const completed = usual.filter(({ type }) => type === "completed");
    expect(both).to.have.deep.members([...completed, ...minted]);
    expect(both.filter(({ type }) => type === "token.minted")).to.deep.equal(minted);
    expect(both.filter(({ type }) => type === "completed")).to.deep.equal(completed);
  });

  it("come in a stream that names them, and the client knows their types", async () => {
    const alice = await api.wallet();
    const address = await api.collection({ type: "ERC721" });
    const url = `${moneta.baseUrl}/v1/events`;
    const readers = [
      await EventReader.open(`${url}?types=token.minted`, moneta.app.token),
      await EventReader.open(`${url}?types=token.burned,token.minted`, moneta.app.token),
      await EventReader.open(url, moneta.app.token),
    ] as const;
    const mints = [await api.mint(address, alice), await api.mint(address, alice)];
    const names = async (reader: EventReader, count: number) =>
      (await reader.first(count)).map(({ type, body }) => `${type} ${body.request_id}`);
    const minted = mints.map(({ request_id: id }) => `token.minted ${id}`);
    expect(await names(readers[0], 2)).to.deep.equal(minted);
    expect(await names(readers[1], 2)).to.deep.equal(minted);
    const usual = mints.flatMap(({ request_id: id }) => [`sent ${id}`, `completed ${id}`]);
    expect(await names(readers[2], 4)).to.deep.equal(usual);
    for (const reader of readers) reader.close();

    const client = createClient({ baseUrl: moneta.baseUrl, token: moneta.app.token });
    const stream = client.events({ types: ["token.minted", "gap"], after: "start" });
    for await (const { event } of stream) {
      if (event.type !== "token.minted" || event.contract_address !== address) continue;
      expect(event.to_address).to.equal(alice);
      break;
    }
    const { events } = await answerOf(
      api.client.GET("/v1/events", { params: { query: { types: "token.minted", limit: 1 } } }),
    );
    expect(events.map(({ type }) => type)).to.deep.equal(["token.minted"]);
  });

  it("refuse a list with a wrong, a missing or a repeated type, and name the parameter", async () => {
    for (const types of ["", "token.minted,", "token.lost", "sent,sent", `${TOKENS},${TOKENS}`, " sent"]) {
      const { status, body } = await api.send("GET", `/v1/events?types=${encodeURIComponent(types)}`);
      expect([status, body["error_code"]], types).to.deep.equal([422, "validation_failed"]);
      expect(JSON.stringify(body["errors"]), types).to.include('"types"');
    }
  });
});
