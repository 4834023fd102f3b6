import { expect } from "chai";

import { MAX_BATCH_ITEMS, MAX_JSON_VALUES } from "../../api/config/limits.ts";
import {
  BATCH_ITEMS,
  BATCH_VALUES,
  type BulkItems,
  BulkMint,
  bulkMint,
  type BulkOptions,
  BulkStopped,
} from "../../client/bulk.ts";
import { type BulkItem, type BulkProgress, type BulkStep, itemsIn, newProgress } from "../../client/bulk-progress.ts";
import { createClient, type Shape } from "../../client/client.ts";
import { ApiRefusal, ConnectionFailed } from "../../client/errors.ts";
import { checkedFetch } from "../support/conformance.ts";
import { useService } from "../support/use-service.ts";
import { rejectionOf } from "../support/rejection.ts";

type Mint = Shape<"Mint">;
type Fetch = (request: Request) => Promise<Response>;

const ADDRESS = "0x00000000000000000000000000000000000A11cE";

/** Bodies that name their place. */
function bodies(count: number, more: Partial<Mint> = {}): Mint[] {
  return Array.from({ length: count }, (_, n) => ({ collection_address: ADDRESS, name: n.toString(), ...more }));
}

function answer(status: number, body: object, headers: Record<string, string> = {}): Response {
  return Response.json(body, { status, headers });
}

function refusal(status: number, code: string): Response {
  return answer(status, { error_code: code, message: "No.", errors: null });
}

interface FakeOptions {
  /** The result of an item. */
  decide?: (name: number) => object;
  /** Answers in place of the service. "lost": the service takes the call, and its answer is lost. */
  intercept?: (call: number, names: number[]) => Response | "lost" | undefined;
}

/** A service that mints each item once for each key, and notes what it does. */
function fakeService({ decide = accepted, intercept = () => undefined }: FakeOptions = {}) {
  const answers = new Map<string, { body: string; results: object[] }>();
  const seen = { sizes: [] as number[], keys: [] as string[], minted: [] as number[], atOnce: 0, mostAtOnce: 0 };
  const fetch: Fetch = async (request) => {
    const key = request.headers.get("Idempotency-Key") ?? "";
    const body = await request.text();
    const names = (JSON.parse(body) as { items: Mint[] }).items.map(({ name }) => Number(name));
    seen.sizes.push(names.length);
    seen.keys.push(key);
    const instead = intercept(seen.sizes.length, names);
    if (instead instanceof Response) return instead;
    seen.mostAtOnce = Math.max(seen.mostAtOnce, ++seen.atOnce);
    await new Promise(setImmediate);
    seen.atOnce -= 1;
    const earlier = answers.get(key);
    expect(earlier?.body ?? body, "the body of a repetition").to.equal(body);
    const results = earlier?.results ?? names.map(decide);
    if (earlier === undefined) {
      seen.minted.push(...names.filter((_name, place) => "request_id" in (results[place] ?? {})));
      answers.set(key, { body, results });
    }
    if (instead === "lost") throw new Error("The connection broke.");
    return answer(200, { results }, { "Retry-After": "0" });
  };
  return { client: createClient({ baseUrl: "http://moneta.test", fetch }), seen };
}

function accepted(name: number): object {
  return { request_id: name.toString().padStart(64, "0") };
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n);
}

describe("a bulk mint", () => {
  /** Sends, and keeps what it would store. */
  async function send(
    { client }: Pick<ReturnType<typeof fakeService>, "client">,
    items: BulkItems,
    options: Partial<BulkOptions> = {},
  ) {
    const { progress = newProgress("run"), ...others } = options;
    await new BulkMint(client, { maxRetries: 0, progress, ...others }).send(items);
    return progress;
  }

  it("refuses numbers with which it would send nothing, or too much", () => {
    const { client } = fakeService();
    const made = (options: Partial<BulkOptions>) => () =>
      new BulkMint(client, { progress: newProgress("run"), ...options });
    for (const atOnce of [0, 17, 1.5, NaN])
      expect(made({ atOnce })).to.throw(RangeError, "atOnce must be a whole number from 1 to 16.");
    for (const batchItems of [0, MAX_BATCH_ITEMS + 1])
      expect(made({ batchItems })).to.throw(RangeError, "batchItems must be a whole number from 1 to 1000.");
    expect(made({ atOnce: 16, batchItems: MAX_BATCH_ITEMS })).not.to.throw();
  });

  it("has batches that are half of what the service takes, or less", () => {
    expect(BATCH_ITEMS).to.be.at.most(MAX_BATCH_ITEMS);
    expect(BATCH_VALUES).to.equal(MAX_JSON_VALUES / 2);
  });

  describe("send", () => {
    it("splits the items by number, by bytes and by values", async () => {
      const service = fakeService();
      const progress = await send(service, bodies(600));
      await send(service, bodies(3, { description: "x".repeat(1_900_000) }), { progress: newProgress("bytes") });
      const attributes = Array.from({ length: 10_001 }, () => ({ trait_type: "a", value: "b" }));
      await send(service, bodies(3, { attributes }), { progress: newProgress("values") });
      expect(service.seen.sizes).to.deep.equal([250, 250, 100, 2, 1, 2, 1]);
      expect(itemsIn(progress, "accepted")).to.have.length(600);
    });

    it("stores the key and the bodies before it sends", async () => {
      const steps: BulkStep[] = [];
      const service = fakeService({
        intercept: (call) => {
          expect(steps).to.have.length(call * 2 - 1);
          return undefined;
        },
      });
      const items = bodies(3);
      await send(service, items, { batchItems: 2, keep: (_progress, step) => void steps.push(step) });
      expect(service.seen.keys).to.deep.equal(["run-0", "run-1"]);
      expect(steps[0]).to.deep.include({ step: "send", key: "run-0", items: [0, 1], bodies: items.slice(0, 2) });
    });

    it("reads an async source batch by batch, and leaves out what is null", async () => {
      let read = 0;
      async function* source() {
        for (const body of bodies(6)) {
          read += 1;
          yield await Promise.resolve(body.name === "3" ? null : body);
        }
      }
      const reads: number[] = [];
      const service = fakeService({
        intercept: () => {
          reads.push(read);
          return undefined;
        },
      });
      const progress = await send(service, source(), { batchItems: 2 });
      expect(reads).to.deep.equal([2, 5, 6]);
      expect(service.seen.minted).to.deep.equal([0, 1, 2, 4, 5]);
      expect(itemsIn(progress, "waiting")).to.deep.equal([3]);
    });

    it("keeps as many calls under way as it may, and mints each item once", async () => {
      const service = fakeService({
        intercept: (call) => (call === 3 ? refusal(413, "payload_too_large") : undefined),
      });
      const progress = await send(service, bodies(40), { batchItems: 4, atOnce: 3 });
      expect(service.seen.mostAtOnce).to.equal(3);
      expect(service.seen.minted.toSorted((a, b) => a - b)).to.deep.equal(numbers(40));
      expect(itemsIn(progress, "accepted")).to.have.length(40);
      expect(new Set(service.seen.keys).size).to.equal(service.seen.keys.length);
    });

    it("sends items again that found no room, and stops when there is none for long", async () => {
      let full = true;
      const decide = (name: number) =>
        full && name === 1 ? { error_code: "unavailable", message: "Later.", errors: null } : accepted(name);
      const service = fakeService({
        decide,
        intercept: (call) => {
          full = call === 1;
          return undefined;
        },
      });
      await send(service, bodies(3));
      expect(service.seen.sizes).to.deep.equal([3, 1]);
      expect(service.seen.minted).to.deep.equal([0, 2, 1]);

      const closed = { error_code: "quota_exceeded", message: "Later.", errors: null };
      const later = () => answer(200, { results: [accepted(0), closed] }, { "Retry-After": "3600" });
      const progress = newProgress("full");
      const error = await rejectionOf(send(fakeService({ intercept: later }), bodies(2), { progress }));
      expect(error).to.be.instanceOf(BulkStopped).and.to.include({ reason: "no_room", wait: 3_600_000 });
      expect(progress.items.map(({ is }) => is)).to.deep.equal(["accepted", "waiting"]);
    });

    for (const status of [400, 408, 413, 422]) {
      it(`halves a batch that is refused with ${status.toString()}, until the wrong item is found`, async () => {
        const wrong = () => refusal(status, "validation_failed");
        const service = fakeService({ intercept: (_call, names) => (names.includes(5) ? wrong() : undefined) });
        const progress = await send(service, bodies(8));
        const failure = { code: "validation_failed", message: "No.", errors: [], status };
        expect(progress.items[5]).to.deep.equal({ is: "failed", requestId: null, ...failure });
        expect(service.seen.minted.toSorted()).to.deep.equal([0, 1, 2, 3, 4, 6, 7]);
      });
    }

    it("sends what it has put back before what it has not sent", async () => {
      // The third item is read, and does not fit into the first batch.
      const service = fakeService({
        intercept: (call) => (call === 1 ? refusal(413, "payload_too_large") : undefined),
      });
      await send(service, bodies(3, { description: "x".repeat(1_900_000) }));
      expect(service.seen.minted).to.deep.equal([0, 1, 2]);
    });

    it("knows that a call that was rate limited was not taken", async () => {
      const answers = [answer(429, {}, { "Retry-After": "0" }), refusal(413, "payload_too_large")];
      const service = fakeService({ intercept: () => answers.shift() });
      await send(service, bodies(2), { maxRetries: 1 });
      expect(service.seen.sizes).to.deep.equal([2, 2, 1, 1]);
      expect(service.seen.minted).to.deep.equal([0, 1]);
    });

    it("keeps a batch whose answer was lost when its repetition is too large, and mints it once", async () => {
      let proxyRefuses = true;
      const service = fakeService({
        intercept: (call) => (call === 1 ? "lost" : proxyRefuses ? new Response("", { status: 413 }) : undefined),
      });
      const progress = newProgress("run");
      const error = await rejectionOf(send(service, bodies(2), { progress, maxRetries: 1 }));
      expect(error).to.be.instanceOf(BulkStopped).and.to.have.property("reason", "uncertain");
      expect(await rejectionOf(send(service, bodies(2), { progress }))).to.have.property("reason", "uncertain");
      expect(itemsIn(progress, "sent")).to.deep.equal([0, 1]);
      proxyRefuses = false;
      await send(service, bodies(2), { progress });
      expect(service.seen.minted).to.deep.equal([0, 1]);
      expect(new Set(service.seen.keys)).to.deep.equal(new Set(["run-0"]));
    });

    it("repeats a call with the same key while the service is busy or away", async () => {
      const service = fakeService({
        intercept: (call) => {
          if (call === 1) return answer(503, {}, { "Retry-After": "0" });
          if (call === 2) return answer(429, {}, { "Retry-After": "0" });
          return call === 3 ? "lost" : undefined;
        },
      });
      await send(service, bodies(2), { maxRetries: 3 });
      expect(service.seen.keys).to.deep.equal(["run-0", "run-0", "run-0", "run-0"]);
      expect(service.seen.minted).to.deep.equal([0, 1]);
    });

    it("gives up when the service is away for longer than the patience", async () => {
      const service = fakeService({ intercept: () => "lost" });
      const error = await rejectionOf(send(service, bodies(1), { maxRetries: 9, patience: 100 }));
      expect(error).to.be.instanceOf(ConnectionFailed);
      expect(service.seen.sizes).to.have.length(1);
    });

    it("leaves a batch open that is refused for another reason than its items", async () => {
      const progress = newProgress("run");
      const service = fakeService({ intercept: () => refusal(409, "idempotency_key_reused") });
      const error = await rejectionOf(send(service, bodies(2), { progress }));
      expect(error).to.be.instanceOf(ApiRefusal).and.to.have.property("status", 409);
      expect(itemsIn(progress, "sent")).to.deep.equal([0, 1]);
    });

    it("stores the answer to the call under way when it is aborted, and begins no other", async () => {
      const end = new AbortController();
      const service = fakeService({
        intercept: () => {
          end.abort(new Error("enough"));
          return undefined;
        },
      });
      const progress = newProgress("run");
      const work = send(service, bodies(4), { progress, batchItems: 2, signal: end.signal });
      expect(await rejectionOf(work)).to.have.property("message", "enough");
      expect(progress.items.map(({ is }) => is)).to.deep.equal(["accepted", "accepted"]);
      expect(service.seen.sizes).to.deep.equal([2]);
    });

    it("sends nothing when the progress cannot be stored", async () => {
      const service = fakeService();
      const keep = () => Promise.reject(new Error("The disk is full."));
      const work = send(service, bodies(4), { batchItems: 2, atOnce: 2, keep });
      expect(await rejectionOf(work)).to.have.property("message", "The disk is full.");
      expect(service.seen.sizes).to.deep.equal([]);
    });

    it("sends a batch whose answer was lost six days ago only when it is told to", async () => {
      const service = fakeService({ intercept: (call) => (call === 1 ? "lost" : undefined) });
      const progress = newProgress("run");
      await rejectionOf(send(service, bodies(1), { progress }));
      progress.open[0]!.at -= 7 * 86_400_000;
      const error = await rejectionOf(send(service, bodies(1), { progress }));
      expect(error).to.be.instanceOf(BulkStopped).and.to.have.property("reason", "old");
      await send(service, bodies(1), { progress, sendOld: true });
      expect(service.seen.minted).to.deep.equal([0]);
    });
  });

  it("takes the outcomes of its own requests only, each once", async () => {
    const { client } = fakeService();
    const steps: BulkStep[] = [];
    const keep = (_progress: BulkProgress, step: BulkStep) => void steps.push(step);
    const bulk = new BulkMint(client, { maxRetries: 0, progress: newProgress("run"), keep });
    await bulk.send(bodies(2));
    steps.length = 0;
    const completed = (name: number) => ({
      request_id: name.toString().padStart(64, "0"),
      status: "completed",
      nft_token_id: name,
    });
    const [first, another, waits] = [completed(0), completed(7), { ...completed(1), status: "processing" }];
    await bulk.settle([another, first, first, waits]);
    await bulk.settle([first, another]);
    expect(steps).to.deep.equal([
      {
        step: "settle",
        outcomes: [{ index: 0, outcome: { is: "completed", requestId: first.request_id, tokenId: "0" } }],
      },
    ]);
    expect(bulk.progress.items.map(({ is }) => is)).to.deep.equal(["completed", "accepted"]);
  });

  it("keeps each warning of the service once, with its items, as plain JSON", async () => {
    const cut = { field: "image", code: "unescaped_hash", message: "A # ends it." };
    const decide = (name: number) => ({ ...accepted(name), ...(name % 2 === 1 && { warnings: [cut] }) });
    const { client } = fakeService({ decide });
    const { progress } = new BulkMint(client, { progress: newProgress("run") });
    await new BulkMint(client, { progress, batchItems: 2 }).send(bodies(5));
    expect(JSON.parse(JSON.stringify(progress))).to.deep.include({ warnings: [{ ...cut, items: [1, 3] }] });
    const silent = newProgress("silent");
    await new BulkMint(fakeService().client, { progress: silent }).send(bodies(2));
    expect(silent).to.not.have.property("warnings");
  });

  describe("given a service", () => {
    const moneta = useService();
    const mintedNames = async (collection: string) => {
      const { nfts } = await moneta.api.ok<{ nfts: Shape<"Nft">[] }>("GET", `/v1/collections/${collection}`);
      return nfts.map(({ metadata }) => metadata?.name);
    };
    const clientWith = (fetch: Fetch) =>
      createClient({ baseUrl: moneta.baseUrl, token: moneta.app.token, maxRetries: 0, fetch });

    it("says what became of each item, and numbers the tokens in their order", async () => {
      const collection_address = await moneta.api.collection({ type: "ERC721" });
      const to_address = await moneta.api.wallet();
      const items: Mint[] = bodies(5, { collection_address, to_address });
      items[1] = { ...items[1]!, image: "no URI" };
      items[3] = { ...items[3]!, image: "http://192.168.1.1/picture.png", copy_media: true };
      const client = clientWith(checkedFetch(moneta.baseUrl));
      const settled: number[] = [];
      const keep = (_progress: BulkProgress, step: BulkStep) => {
        if (step.step === "settle") settled.push(...step.outcomes.map(({ index }) => index));
      };
      const found = await bulkMint(client, items, { progress: newProgress("outcomes"), batchItems: 2, keep });
      expect(found.map((item) => (item.is === "completed" ? item.tokenId : item.is))).to.deep.equal([
        ...["1", "failed", "2", "failed", "3"],
      ]);
      const [refused, failed] = [1, 3].map((n) => found[n] as Extract<BulkItem, { is: "failed" }>);
      expect(refused).to.include({ code: "validation_failed", requestId: null });
      expect(refused!.errors.map(({ field }) => field)).to.deep.equal(["image"]);
      expect(failed).to.have.property("code", "media_blocked");
      expect(failed!.requestId).to.match(/^[0-9a-f]{64}$/);
      expect(settled.toSorted()).to.deep.equal([0, 2, 3, 4]);
      expect(await mintedNames(collection_address)).to.have.members(["0", "2", "4"]);
    });

    it("mints each item once when it dies before and after each step, and each answer is lost once", async () => {
      const collection_address = await moneta.api.collection({ type: "ERC721" });
      const items = bodies(7, { collection_address, to_address: await moneta.api.wallet() });
      const real = checkedFetch(moneta.baseUrl);
      const lost = new Set<string>();
      const client = clientWith(async (request) => {
        const response = await real(request);
        const key = request.headers.get("Idempotency-Key");
        if (key === null || lost.has(key)) return response;
        lost.add(key);
        throw new Error("The connection broke.");
      });
      let stored = JSON.stringify(newProgress("deaths"));
      const deaths = new Map<string, number>();
      const keep = (progress: BulkProgress, step: BulkStep) => {
        const at = `${step.step} ${"key" in step ? step.key : ""}`;
        const before = deaths.get(at) ?? 0;
        deaths.set(at, before + 1);
        // The second time the step is on disk when the process dies.
        if (before > 0) stored = JSON.stringify(progress);
        if (before < 2) throw new Error("killed");
      };
      let found: readonly BulkItem[] | null = null;
      for (let lives = 1; found === null; lives++) {
        expect(lives).to.be.below(100);
        const progress = JSON.parse(stored) as BulkProgress;
        try {
          found = await bulkMint(client, items, { progress, keep, batchItems: 2, atOnce: 2, maxRetries: 0 });
        } catch (error) {
          expect((error as Error).message).to.match(/^killed$|The connection broke/);
        }
      }
      expect(found.map(({ is }) => is)).to.deep.equal(items.map(() => "completed"));
      expect(await mintedNames(collection_address)).to.have.members(items.map(({ name }) => name));
      expect([...deaths].filter(([at]) => !at.startsWith("settle")).map(([, times]) => times)).to.satisfy(
        (times: number[]) => times.length === 8 && times.every((count) => count >= 2),
      );
      expect(lost.size).to.equal(4);
    });

    it("does not mint again what the service has forgotten", async () => {
      const collection_address = await moneta.api.collection({ type: "ERC721" });
      const items = bodies(2, { collection_address, to_address: await moneta.api.wallet() });
      const real = checkedFetch(moneta.baseUrl);
      let forgotten = "";
      const client = clientWith(async (request) => {
        const { pathname } = new URL(request.url);
        if (/^\/v1\/requests\/./.test(pathname)) forgotten ||= pathname;
        return pathname === forgotten ? refusal(404, "not_found") : real(request);
      });
      const progress = newProgress("forgotten");
      const found = await bulkMint(client, items, { progress });
      expect(found.map(({ is }) => is)).to.deep.equal(["unknown", "completed"]);
      await bulkMint(client, items, { progress });
      expect(progress.batches).to.equal(1);
    });
  });
});
