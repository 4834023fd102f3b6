import { expect } from "chai";
import { pino } from "pino";

import type { Shape } from "../../../client/client.ts";
import type { Examination } from "../../../api/checks/examine.ts";
import type { Retention } from "../../../api/domain/retention.ts";
import { prune } from "../../../api/operate/prune.ts";
import type { Reconciliation } from "../../../api/operate/reconcile/reconcile.ts";
import { openDatabase } from "../../../api/store/db/database.ts";
import { rollback } from "../../../api/store/ledger/rollback.ts";
import { WebhookReceiver } from "../../../scripts/scene/receiver.ts";
import type { RequestBody } from "../../support/api-client.ts";
import { eventually } from "../../support/eventually.ts";
import { useService } from "../../support/use-service.ts";
import { jsonOfCli, runCli } from "../cli/support/run.ts";
import { contents } from "../support/contents.ts";

const DAY = 86_400_000;
const RETAIN: Retention = { days: 30, failedDays: 30 };
/** Blocks that a reorg drops: fewer than those whose headers are stored. */
const DEPTH = 250;

describe("pruning beside the service", () => {
  // Weeks pass on the chain, and all old rows of the database are deleted.
  const moneta = useService({ node: "deployed" });
  const { api } = moneta;
  let receiver: WebhookReceiver;
  let [from, to, collection] = ["", "", ""];
  const requests: string[] = [];
  let delivery = "";
  let late: RequestBody;
  let snapshot: unknown;
  let untouched: Awaited<ReturnType<typeof state>>;

  // One by one: Hardhat invents the blocks of a large `hardhat_mine` later, and a parent's hash may not fit.
  const mine = (blocks: number) =>
    Promise.all(Array.from({ length: blocks }, () => moneta.provider.send("evm_mine", [])));
  const read = () => moneta.service.database.read;
  const mint = () => ({ collection_address: collection, to_address: from, name: "One" });
  const keyed = () => api.send<{ request_id: string }>("POST", "/v1/nfts", mint(), { "idempotency-key": "once" });
  const deliveries = () => api.ok<Shape<"DeliveriesPage">>("GET", "/v1/webhook/deliveries?limit=30");

  async function completed(...call: Parameters<typeof api.completed>): Promise<RequestBody> {
    const request = await api.completed(...call);
    requests.push(request.request_id);
    return request;
  }

  /** Prunes as if it were forty days later. @returns the rows of each kind. */
  async function pruneLater(): Promise<Record<string, number>> {
    const rows: Record<string, number> = {};
    const logger = pino({ level: "silent" });
    const deps = { database: moneta.service.database, retain: RETAIN, logger, now: () => Date.now() + 40 * DAY };
    await prune(deps, new AbortController().signal, (kind, removed) => {
      rows[kind] = (rows[kind] ?? 0) + removed.rows;
    });
    return rows;
  }

  /** What an app sees, and what the chain has brought about. */
  async function state() {
    const { counters, checkpoint: _checkpoint, ...rest } = await contents(moneta.service.database);
    return {
      ...rest,
      counters: counters.filter(([key]) => !key.startsWith("deliveries:")),
      requests: await Promise.all(requests.map((id) => api.ok<RequestBody>("GET", `/v1/requests/${id}`))),
      usage: (await api.ok<Shape<"Usage">>("GET", "/v1/usage")).total,
      feed: await api.ok("GET", "/v1/events?limit=30"),
      moves: await api.ok("GET", `/v1/accounts/${from}/history`),
    };
  }

  async function attempts() {
    const rows = await read()
      .selectFrom("attempts")
      .innerJoin("batches", "batches.id", "attempts.batch_id")
      .select(["attempts.hash", "attempts.raw", "batches.keeps_items"])
      .execute();
    const kept = rows.filter(({ raw }) => raw !== null);
    return { all: rows.length, kept: kept.map(({ hash, keeps_items: items }) => ({ hash, items })) };
  }

  async function healthy(): Promise<void> {
    const doctor = await jsonOfCli<Examination>(moneta.env, "doctor");
    const problems = doctor.findings.filter(({ result }) => result === "problem");
    expect(problems).to.deep.equal([]);
    const { comparison, recovery } = await jsonOfCli<Reconciliation>(moneta.env, "reconcile", "--from-start");
    expect([recovery, comparison.told]).to.deep.equal([null, []]);
  }

  before("send requests of all kinds, and let forty days and many blocks pass", async () => {
    receiver = await WebhookReceiver.listen();
    await api.ok("PUT", "/v1/webhook", { url: receiver.url });
    [from, to] = [await api.wallet(), await api.wallet()];
    collection =
      (await completed("/v1/collections", { type: "ERC721", name: "A", symbol: "AAA" })).nft_collection ?? "";
    const editions = await completed("/v1/collections", { type: "ERC1155", name: "B", symbol: "BBB" });
    const contract = editions.nft_collection ?? "";
    await Promise.all(Array.from({ length: 8 }, () => completed("/v1/nfts", mint())));
    const created = { initial_owner: from, token_id: 5, initial_supply: 10 };
    await completed("/v1/nfts", { collection_address: contract, ...created });
    const moved = { from_address: from, to_address: to };
    await completed("/v1/transfers", { ...moved, contract_address: contract, token_id: 5, amount: 4 });
    await completed("/v1/transfers", { ...moved, contract_address: collection, token_id: 1 });
    const { body } = await keyed();
    expect((await keyed()).body).to.deep.equal(body);
    requests.push((await api.settled(body.request_id)).request_id);
    await api.ok("POST", "/v1/webhook/test", {});
    await runCli(moneta.env, "console");
    const page = await eventually(async () => {
      const found = await deliveries();
      return found.deliveries.every(({ status }) => status === "delivered") ? found : undefined;
    });
    expect(page.total).to.equal(requests.length * 2 + 1);
    delivery = page.deliveries.at(-1)?.id ?? "";
    await moneta.provider.send("evm_increaseTime", [40 * 86_400]);
    await mine(100);
    await moneta.caughtUp();
    snapshot = await moneta.provider.send("evm_snapshot", []);
    late = await completed("/v1/nfts", mint());
    await mine(DEPTH);
    await moneta.caughtUp();
    await eventually(async () =>
      (await deliveries()).deliveries.every(({ status }) => status === "delivered") ? true : undefined,
    );
    untouched = await state();
  });
  after(() => receiver.close());

  it("removes the old rows of every kind, and no app notices", async () => {
    const { all } = await attempts();
    const pruned = await pruneLater();
    expect(pruned).to.deep.equal({
      // With that of the test event.
      deliveries: requests.length * 2 + 1,
      test_events: 1,
      raw_transactions: all - 1,
      batch_items: requests.length - 1,
      console_sessions: 1,
    });
    expect(await state()).to.deep.equal(untouched);
    expect(untouched.requests.every(({ gas_used: gas, fee_wei: fee }) => Number(gas) > 0 && Number(fee) > 0)).to.equal(
      true,
    );
    expect(await pruneLater(), "nothing is left").to.deep.equal({});
    expect((await deliveries()).total).to.equal(0);
    // What a reorg can still reach stays, however old it is by the clock.
    expect((await attempts()).kept).to.deep.equal([{ hash: late.transaction_hash, items: 1 }]);
    await healthy();
    expect(await state()).to.deep.equal(untouched);
  });

  it("says that a pruned delivery cannot be repeated, and where the event is", async () => {
    const { status, body } = await api.send("POST", `/v1/webhook/deliveries/${delivery}/redeliver`, {});
    expect([status, body["error_code"]]).to.deep.equal([404, "not_found"]);
    expect(body["message"]).to.contain("GET /v1/events has every event");
  });

  it("given a reorg of almost all remembered blocks: rolls back what was not pruned, and sends it again", async () => {
    await moneta.provider.send("evm_revert", [snapshot]);
    // Other blocks than before.
    await moneta.provider.send("evm_increaseTime", [3_600]);
    await mine(DEPTH + 10);
    const found = await eventually(async () => {
      const receipt = await moneta.provider.getTransactionReceipt(late.transaction_hash ?? "");
      return receipt ?? undefined;
    });
    expect(found.blockNumber).to.be.greaterThan(late.block_number ?? 0);
    await moneta.caughtUp();
    const { requests: shown, moves: _moves, feed, ...rest } = await state();
    const { requests: earlier, moves: _earlier, feed: told, ...same } = untouched;
    expect(shown.map(({ status, nft_token_id: id }) => [status, id])).to.deep.equal(
      earlier.map(({ status, nft_token_id: id }) => [status, id]),
    );
    expect(feed).to.deep.equal(told);
    expect(rest.holdings).to.deep.equal(same.holdings);
    expect(rest.usage.requests_completed).to.equal(same.usage.requests_completed);
    await healthy();
  });

  it("given a roll-back behind pruned batches, as reconcile makes for an old backup: stores them again from their transactions on chain", async () => {
    await moneta.caughtUp();
    const earlier = await state();
    await moneta.stop();
    const database = await openDatabase(moneta.databaseUrl);
    const { block } = await database.read
      .selectFrom("batches")
      .select((eb) => eb.fn.min("block_number").as("block"))
      .executeTakeFirstOrThrow();
    await database.write((trx) => rollback(trx, (block ?? 0) - 1));
    const open = await database.read.selectFrom("batches").select("id").where("status", "=", "open").execute();
    await database.close();
    expect(open.length).to.be.greaterThan(1);
    await moneta.start();
    await moneta.caughtUp();
    const { transfers, history, requests: shown, counters, ...rest } = await state();
    const { transfers: moved, history: owned, requests: told, counters: counted, ...same } = earlier;
    expect(rest).to.deep.equal(same);
    // Blocks that were dropped and read again have events of their own.
    const withoutEvents = (all: typeof counters) => all.filter(([key]) => !key.startsWith("events:"));
    expect(withoutEvents(counters)).to.deep.equal(withoutEvents(counted));
    const timeless = (list: RequestBody[]) => list.map(({ updated_at: _at, ...request }) => request);
    expect(timeless(shown)).to.deep.equal(timeless(told));
    const words = (rows: typeof transfers) => rows.map(({ id: _id, ...row }) => row);
    expect(words(transfers)).to.deep.equal(words(moved));
    expect(history).to.have.length(owned.length);
    await healthy();
  });

  it("given an idempotency key that is older than everything that was pruned: does not run the call again", async () => {
    const again = await keyed();
    expect(again.status).to.equal(200);
    expect(requests).to.include(again.body.request_id);
  });
});
