import { expect } from "chai";
import { type JsonRpcSigner, Transaction, ZeroHash } from "ethers";

import { NAMED_EVENTS } from "../../../api/domain/events.ts";
import type { Shape } from "../../../client/client.ts";
import { AppWebhooks } from "../../../scripts/faults/app-webhooks.ts";
import { wrongTokenEvents } from "../../../scripts/faults/compare-events.ts";
import { Follower } from "../../../scripts/faults/follower.ts";
import { Random } from "../../../scripts/scene/random.ts";
import { openRecords, type Records } from "../../../scripts/scene/records.ts";
import type { ERC1155Collection } from "../../../types/ethers-contracts/ERC1155Collection.ts";
import { ERC1155Collection__factory } from "../../../types/ethers-contracts/factories/ERC1155Collection__factory.ts";
import { ERC721Collection__factory } from "../../../types/ethers-contracts/factories/ERC721Collection__factory.ts";
import { eventually } from "../../support/eventually.ts";
import type { TestProcess } from "../../support/process.ts";
import { useService } from "../../support/use-service.ts";
import { followMovements, movementsOnChain } from "../support/told-movements.ts";

type Events = Shape<"EventsFeed">["events"];

const CONFIRMATIONS = 4;
/** Requests are accepted a hundred at a time. */
const BATCH = 100;
/** Ids of the collection of copies. Each transaction of a stranger moves all of them. */
const IDS = Array.from({ length: 100 }, (_, index) => index + 1);
/** Enough for such a transaction, so that no call estimates it. */
const GAS = { gasLimit: 8_000_000 };
/** The events of a request that completes, in their order. A block that is final when it is first stored has no `in_block`. */
const STORY = /^sent( in_block)?( dropped( in_block)?)* completed( corrected)*$/;

describe("events of many movements by strangers beside requests, through kills and reorgs, with a slow and a dead webhook", () => {
  // Processes, because they are killed, and a chain that only the test continues, because it is reverted.
  const moneta = useService({
    start: false,
    settings: { LEASE_SECONDS: "3", LANES: "2", CONFIRMATIONS: CONFIRMATIONS.toString() },
  });
  const { api } = moneta;
  const accepted: string[] = [];
  let process: TestProcess;
  let records: Records;
  let webhooks: AppWebhooks;
  let follower: Follower;
  let strangers: [JsonRpcSigner, JsonRpcSigner];
  let wallet: string;
  let tokens: string;
  let copies: ERC1155Collection;

  const send = (method: string, ...params: unknown[]) => moneta.provider.send(method, params) as Promise<unknown>;
  const count = async (rows: string) => (await records.one<{ n: number }>(`select count(*) n from ${rows}`)).n;
  const told = () => count("events where type like 'token.%'");
  const open = () => count("requests where status in ('pending', 'processing')");
  const head = () => moneta.provider.getBlockNumber();

  async function mine(blocks = 1): Promise<void> {
    for (let mined = 0; mined < blocks; mined++) await send("evm_mine");
  }
  /** Waits for what needs blocks, and mines them. */
  const mineUntil = (isDone: () => Promise<boolean>) =>
    eventually(async () => {
      if (await isDone()) return true;
      await mine();
      return undefined;
    });
  const until = (isDone: () => Promise<boolean> | boolean) =>
    eventually(async () => ((await isDone()) ? true : undefined));

  /** Waits until no transaction of the service is due, not even again after a reorg. */
  const settled = () => mineUntil(async () => (await open()) + (await count("batches where status = 'open'")) === 0);
  const stored = async () => {
    const newest = await moneta.provider.getBlock("latest");
    await until(async () => (await count(`blocks where hash = '${newest?.hash ?? ""}'`)) === 1);
  };

  /** Mints by requests. Waits until their transactions are at the node. */
  async function requestMints(batches: number): Promise<string[]> {
    const mint = { collection_address: tokens, to_address: wallet };
    const ids: string[] = [];
    for (let batch = 0; batch < batches; batch++)
      ids.push(...(await api.acceptBatch("/v1/nfts/batch", Array<typeof mint>(BATCH).fill(mint))));
    accepted.push(...ids);
    await until(async () => {
      if ((await count("requests where status = 'pending'")) > 0) return false;
      const sent = await records.all<{ hash: string }>(
        "select distinct transaction_hash hash from requests where status = 'processing'",
      );
      const known = await Promise.all(sent.map(({ hash }) => moneta.provider.getTransaction(hash)));
      return !known.includes(null);
    });
    return ids;
  }

  /** The signed bytes of the transactions that carried these requests, in the order of their tokens. */
  async function transactionsOf(ids: readonly string[]): Promise<string[]> {
    const made = await records.all<{ id: string; hash: string }>(
      "select id, transaction_hash hash from requests order by cast(nft_token_id as integer)",
    );
    const hashes = new Set(made.flatMap(({ id, hash }) => (ids.includes(id) ? [hash] : [])));
    const sent = await Promise.all([...hashes].map((hash) => moneta.provider.getTransaction(hash)));
    return sent.flatMap((transaction) => (transaction === null ? [] : [Transaction.from(transaction).serialized]));
  }

  /** Transactions of a stranger to another one, two in each block. */
  async function move(transactions: number, { ids = IDS, quantity = 1, back = false } = {}): Promise<void> {
    const [from, to] = back ? [strangers[1], strangers[0]] : strangers;
    const quantities = ids.map(() => quantity);
    for (let sent = 1; sent <= transactions; sent++) {
      await copies.connect(from).safeBatchTransferFrom(from, to, ids, quantities, ZeroHash, GAS);
      if (sent % 2 === 0) await mine();
    }
  }

  async function kill(): Promise<void> {
    expect(await process.end("SIGKILL")).to.equal("SIGKILL");
  }
  const restart = async () => {
    process = await moneta.startProcess();
  };
  /** Starts a process that dies at this point. */
  async function dieAt(point: string): Promise<void> {
    const dying = moneta.spawn({ CRASH_POINT: point, PORT: new URL(moneta.baseUrl).port });
    expect(await dying.gone(), point).to.equal("SIGKILL");
  }

  async function readFeed(): Promise<Events> {
    const found: Events = [];
    for (let after = "start"; ;) {
      const path = `/v1/events?types=${NAMED_EVENTS.join(",")}&after=${after}`;
      const page = await api.ok<Shape<"EventsFeed">>("GET", path);
      if (page.events.length === 0) return found;
      found.push(...page.events);
      after = page.next;
    }
  }

  beforeEach(async () => {
    await restart();
    records = await openRecords(moneta.databaseUrl);
    strangers = [await moneta.provider.getSigner(3), await moneta.provider.getSigner(4)];
    webhooks = await AppWebhooks.listen();
    await webhooks.addFirst(api);
    await webhooks.addForTokens(api);
    follower = new Follower([moneta.baseUrl], moneta.app, new Random(1));
    await send("evm_setAutomine", false);
    wallet = await api.wallet();
    const collections = (["ERC721", "ERC1155"] as const).map((type) =>
      api.accept("/v1/collections", { type, name: "Test", symbol: "TST" }),
    );
    const created = await Promise.all(collections);
    await settled();
    const [single = "", several = ""] = await Promise.all(
      created.map(async (id) => (await api.settled(id)).nft_collection ?? ""),
    );
    tokens = single;
    copies = ERC1155Collection__factory.connect(several, strangers[0]);
    const creations = IDS.map((id) => ({
      ...{ collection_address: several, token_id: id, initial_owner: strangers[0].address, initial_supply: 1_000 },
    }));
    await api.acceptBatch("/v1/nfts/batch", creations);
    await settled();
  });
  afterEach(async () => {
    await follower.stop();
    await records.close();
    expect(await process.end("SIGTERM")).to.equal(0);
    await webhooks.close();
  });

  /** Killed while strangers move tokens, which go on; while events are made; and while they are delivered. */
  async function killWhileTokensMove(): Promise<void> {
    await requestMints(3);
    await move(10);
    await kill();
    await move(30);
    await mine(CONFIRMATIONS);
    const before = await told();
    await dieAt("indexer:events");
    // They were written, and not committed.
    expect(await told()).to.equal(before);
    await dieAt("webhooks:posted");
    await restart();
    await settled();
  }

  /** A reorg of 3 blocks drops mints and movements that are not final. Strangers then move other quantities. */
  async function reorganize(): Promise<void> {
    await stored();
    const [fork, snapshot] = [await head(), await send("evm_snapshot")];
    const ids = await requestMints(2);
    await move(6);
    await stored();
    expect([(await head()) - fork, await open()]).to.deep.equal([3, ids.length]);
    expect(await count(`events where block_number > ${fork.toString()}`)).to.equal(0);
    await send("evm_revert", snapshot);
    await move(8, { quantity: 2 });
    await until(async () => (await count("events where type = 'dropped'")) === ids.length);
    await settled();
  }

  /** Killed when the first of three hundred requests are completed. Strangers go on. */
  async function killWhileRequestsSettle(): Promise<void> {
    const [first = ""] = await requestMints(1);
    await mine();
    const later = await requestMints(2);
    await mine(CONFIRMATIONS - 1);
    await until(() => webhooks.finals.has(first));
    await kill();
    expect(await open()).to.equal(later.length);
    await move(20);
    await restart();
    await settled();
  }

  /**
   * A reorg of more than `CONFIRMATIONS` blocks, after which the mints make other tokens, and strangers move half of theirs back. Killed
   * while it is told. @returns how many events it corrects.
   */
  async function reorganizeDeeply(): Promise<number> {
    await stored();
    const [fork, snapshot] = [await head(), await send("evm_snapshot")];
    const ids = await requestMints(2);
    await move(10);
    await mine(CONFIRMATIONS);
    const wrong = 10 * IDS.length + ids.length;
    await until(async () => (await count(`events where block_number > ${fork.toString()}`)) === wrong);
    expect([(await head()) - fork, await open()]).to.deep.equal([5 + CONFIRMATIONS, 0]);
    const sent = await transactionsOf(ids);
    await send("evm_revert", snapshot);
    for (const raw of sent.reverse()) {
      await send("eth_sendRawTransaction", raw);
      await mine();
    }
    await move(20, { ids: IDS.slice(50), back: true });
    await until(() => webhooks.tokens.corrected > 0);
    await kill();
    await restart();
    await settled();
    return wrong;
  }

  it("has each event once, and those of each token in the order of the chain", async () => {
    await killWhileTokensMove();
    await reorganize();
    await killWhileRequestsSettle();
    const wrong = await reorganizeDeeply();
    await move(22);
    await mine(CONFIRMATIONS);

    const expected = await movementsOnChain(moneta.provider, tokens, await copies.getAddress());
    expect([accepted.length, expected.length]).to.deep.equal([1_000, 10_000 + IDS.length + accepted.length]);
    await until(async () => (await count("events where block_number is not null")) >= expected.length);
    const events = await readFeed();
    const { movements, corrected, problems } = followMovements(events);
    expect(problems).to.deep.equal([]);
    expect(corrected).to.equal(wrong);
    expect(movements).to.deep.equal(expected);
    expect(new Set(events.map(({ id }) => id)).size).to.equal(events.length);
    expect(events.filter(({ type }) => type === "gap")).to.deep.equal([]);
    expect(await wrongTokenEvents(records)).to.deep.equal([]);
    expect(await follower.differences(records)).to.deep.equal([]);
    await expectRequests(events);

    const { appId } = moneta.app;
    const all = expected.length + 2 * wrong;
    await until(() => webhooks.tokens.count >= all && accepted.every((id) => webhooks.finals.has(id)));
    expect(await webhooks.tokens.differences(records, appId)).to.deep.equal([]);
    expect(webhooks.tokens.count).to.equal(all);
    expect(accepted.filter((id) => webhooks.finals.get(id)?.size !== 1)).to.deep.equal([]);
    // All of that came while these two did not get theirs.
    expect(await webhooks.slow.disordered(records, appId)).to.deep.equal([]);
    expect(webhooks.slow.count).to.be.within(1, webhooks.tokens.count / 2);
    expect(await count("deliveries where error is not null")).to.be.above(0);
  });

  /** Each request was completed once, its events came in their order, and tell the token that its transaction made. */
  async function expectRequests(events: Events): Promise<void> {
    const stories = Map.groupBy(
      events.flatMap((event) => ("request_type" in event ? [event] : [])),
      (event) => event.request_id,
    );
    const told = accepted.map((id) => stories.get(id) ?? []);
    const words = new Set(told.map((story) => story.map(({ type }) => type).join(" ")));
    expect([...words].filter((story) => !STORY.test(story))).to.deep.equal([]);
    const mints = ERC721Collection__factory.connect(tokens, moneta.provider);
    const made = await mints.queryFilter(mints.filters.Transfer());
    expect(
      told.map((story) => [Number(story.at(-1)?.nft_token_id), story.at(-1)?.transaction_hash]),
    ).to.have.deep.members(made.map(({ args, transactionHash }) => [Number(args.tokenId), transactionHash]));
  }
});
