import { expect } from "chai";
import { getAddress } from "ethers";

import type { VerifyCollections } from "../../../../api/config/variables.ts";
import { MOST_TRIES } from "../../../../api/domain/verification.ts";
import type { DoctorContext } from "../../../../api/checks/check.ts";
import { verified as verifiedCheck } from "../../../../api/checks/work-checks.ts";
import { type CloneTimes, createCloneVerifier } from "../../../../api/operate/verification/clone-verifiers.ts";
import { CollectionVerifier } from "../../../../api/operate/verification/collection-verifier.ts";
import { leaseTimes } from "../../../../api/shared/lease.ts";
import { type Database, openDatabase } from "../../../../api/store/db/database.ts";
import { addVerifications, retryFailedVerifications } from "../../../../api/store/listings/verifications.ts";
import { poison } from "../../../../scripts/scene/poison.ts";
import { openTestDatabase, type TestDatabase } from "../../../support/database.ts";
import { eventually } from "../../../support/eventually.ts";
import { logLines } from "../../../support/log-lines.ts";
import { parkedIds } from "../../../support/poison.ts";
import { useWorkers } from "../../../support/use-workers.ts";
import { addApp, addCollection } from "../../support/rows.ts";
import { VerifierServer } from "./support/verifier-server.ts";

const IMPLEMENTATION = getAddress(`0x${"ab".repeat(20)}`);
const CLONE = `0x363d3d373d3d3d363d73${"ab".repeat(20)}5af43d82803e903d91602b57fd5bf30101`;
const KEY = "SECRETKEY";
const MINUTE = 60_000;
const TIMES: CloneTimes = { timeout: 60_000, poll: 2, patience: 60_000 };
const WAITING = { state: "waiting", tries: 0, error: null, verified: null };

describe("CollectionVerifier", () => {
  const server = new VerifierServer();
  let database: TestDatabase;
  let now: number;
  let code: string;
  const workers = useWorkers();

  before(() => server.open());
  after(() => server.close());
  beforeEach(async () => {
    database = await openTestDatabase();
    await addApp(database);
    now = Date.now();
    code = CLONE;
    server.asked = [];
    server.slow = 0;
    server.intercept = () => null;
    server.sources.clear();
    server.sources.set(IMPLEMENTATION, "match");
  });
  afterEach(async () => {
    await database.remove();
  });

  /** @param short what ends sooner than a busy machine needs at most. The clock stands still, so nothing is tried again by itself. */
  function start(
    which: Exclude<VerifyCollections, "off"> = "sourcify",
    own: Database = database,
    short: Partial<CloneTimes> = {},
  ) {
    const { logger, lines } = logLines("info");
    const watched = workers.watched(own);
    const settings = { sourcifyUrl: server.url, etherscanUrl: `${server.url}/v2/api`, etherscanKey: KEY };
    const worker = new CollectionVerifier({
      database: watched,
      client: { code: () => Promise.resolve([code]) },
      verifier: createCloneVerifier(which, settings, 31_337n, { ...TIMES, ...short }),
      logger,
      now: () => now,
      lease: leaseTimes(15),
      times: { poll: 5, pace: 1, backoff: { first: 5, longest: 20 } },
    });
    return { worker, lines, ...workers.start(worker, watched.reads) };
  }

  async function collection(): Promise<string> {
    const address = await addCollection(database);
    await database.write((trx) => addVerifications(trx, [{ address }]));
    return address;
  }
  const row = (address: string) =>
    database.read
      .selectFrom("verifications")
      .innerJoin("collections", "collections.address", "verifications.address")
      .select(["state", "tries", "error", "verified"])
      .where("verifications.address", "=", address)
      .executeTakeFirstOrThrow();
  const until = (address: string, holds: (found: Awaited<ReturnType<typeof row>>) => boolean) =>
    eventually(async () => {
      const found = await row(address);
      return holds(found) ? found : undefined;
    });
  const verified = (address: string) => until(address, (found) => found.verified !== null);
  const tried = (address: string, tries: number) => until(address, (found) => found.tries >= tries);

  for (const which of ["sourcify", "etherscan"] as const) {
    describe(which, () => {
      it("finds the sources of what a collection runs, once its job is complete", async () => {
        server.slow = 2;
        const address = await collection();
        const { lines } = start(which);
        expect(await verified(address)).to.deep.equal({ ...WAITING, state: "verified", verified: "implementation" });
        expect(server.calls).to.deep.equal(
          which === "sourcify"
            ? [
                `POST /v2/verify/similarity/31337/${address}`,
                ...Array<string>(3).fill("GET /v2/verify/72d12273-0723-448e-a9f6-f7957128efa5"),
                `GET /v2/contract/31337/${IMPLEMENTATION}`,
              ]
            : ["POST /v2/api?verifyproxycontract", ...Array<string>(3).fill("GET /v2/api?checkproxyverification")],
        );
        if (which === "etherscan") {
          const [sent] = server.asked;
          expect(Object.fromEntries(sent?.url.searchParams ?? [])).to.include({ chainid: "31337", apikey: KEY });
          expect(Object.fromEntries(new URLSearchParams(sent?.body))).to.deep.equal({
            address,
            expectedimplementation: IMPLEMENTATION,
          });
        }
        expect(lines.map(({ msg }) => msg)).to.include("the verifier has the sources of this collection");
      });

      it("tries a refused collection again later, and then gives it up, with the reason, until it is told to try again", async () => {
        server.sources.clear();
        const address = await collection();
        const { lines } = start(which);
        for (let tries = 1; tries < MOST_TRIES; tries++) {
          expect((await tried(address, tries)).state).to.equal("waiting");
          // It waits longer each time, so it is not due a moment before.
          now += Math.min(MINUTE * 2 ** (tries - 1), 12 * 60 * MINUTE);
        }
        const { error, ...failed } = await verified(address);
        expect(failed).to.deep.equal({ state: "failed", tries: MOST_TRIES, verified: "failed" });
        expect(error).to.match(
          which === "sourcify"
            ? /^Sourcify does not have the sources of the implementation 0x/
            : /^Etherscan: A corresponding implementation contract was unfortunately not detected/,
        );
        expect(lines.filter(({ msg }) => msg === "this collection is not verified; retrying later")).to.have.length(
          MOST_TRIES - 1,
        );
        expect(lines.at(-1)?.msg).to.match(/^the verification of this collection has failed/);
        server.sources.set(IMPLEMENTATION, "match");
        expect(await database.write((trx) => retryFailedVerifications(trx, 10))).to.equal(1);
        expect(await until(address, (found) => found.state === "verified")).to.include({ verified: "implementation" });
      });

      it("does not call before Retry-After has passed, and a limit is no try of the collection", async () => {
        let limited = true;
        server.intercept = () => (limited ? { status: 429, headers: { "retry-after": "3600" }, body: "" } : null);
        const address = await collection();
        const { worker, lines, stop, looked } = start(which);
        await eventually(() => Promise.resolve(worker.lastError ?? undefined));
        expect(worker.lastError).to.match(/answers with status 429: it limits the calls$/);
        const { error, ...rest } = await row(address);
        expect(rest).to.deep.equal({ state: "waiting", tries: 0, verified: null });
        expect(error).to.equal(worker.lastError);
        // It is due again, and others are, too.
        now += MINUTE;
        await collection();
        await looked();
        expect(server.asked).to.have.length(1);
        expect(lines.filter(({ level }) => level >= 50)).to.have.length(1);
        await stop();
        // A process that has not been told asks.
        limited = false;
        start(which);
        await verified(address);
      });
    });
  }

  it("takes what Sourcify already knows, also without a hash of its metadata", async () => {
    const [exact, match] = [await collection(), await collection()];
    server.sources.set(exact, "exact_match").set(match, "match");
    const error = { customCode: "already_verified", message: "Contract is already verified.", errorId: "1" };
    server.intercept = ({ method }) => (method === "POST" ? { status: 409, body: error } : null);
    start();
    expect((await verified(exact)).verified).to.equal("exact");
    expect((await verified(match)).verified).to.equal("match");
  });

  it("takes a similar match, if a verifier has one", async () => {
    const address = await collection();
    server.intercept = ({ url }) =>
      url.pathname.startsWith("/v2/verify/72")
        ? { body: { isJobCompleted: true, contract: { match: "match" } } }
        : null;
    start();
    expect((await verified(address)).verified).to.equal("match");
  });

  it("does not call a chain that the verifier does not know, or a wrong key, the fault of a collection", async () => {
    const address = await collection();
    const error = { customCode: "unsupported_chain", message: "The chain is not supported", errorId: "1" };
    server.intercept = () => ({ status: 400, body: error });
    const first = start();
    await eventually(() => Promise.resolve(first.worker.lastError ?? undefined));
    expect(first.worker.lastError).to.equal("Sourcify does not know chain 31337");
    await first.stop();
    now += MINUTE;
    server.intercept = () => ({ body: { status: "0", message: "NOTOK", result: `Invalid API Key: ${KEY}` } });
    const second = start("etherscan");
    await eventually(() => Promise.resolve(second.worker.lastError ?? undefined));
    expect(second.worker.lastError).to.equal("Etherscan: Invalid API Key: …");
    expect(await row(address)).to.include({ tries: 0, verified: null });
    expect(JSON.stringify(second.lines)).to.not.contain(KEY);
  });

  for (const [what, answer, reason] of [
    ["an answer that never comes", "hang", "Sourcify does not answer in time"],
    [
      "a huge answer",
      { body: `"${"x".repeat(2_000_000)}"` },
      "Sourcify answers with status 200, and not as documented",
    ],
    ["something else than JSON", { body: "<html>" }, "Sourcify answers with status 200, and not as documented"],
    ["another document", { body: { hello: "world" } }, "Sourcify does not answer as documented."],
    ["an id that leads elsewhere", { body: { verificationId: "../../x" } }, "Sourcify does not answer as documented."],
    [
      "a redirect",
      { status: 302, headers: { location: "http://169.254.169.254/" }, body: { match: "match" } },
      "Sourcify answers with status 302, and not as documented",
    ],
    ["an error of the server", { status: 502, body: "" }, "Sourcify answers with status 502"],
  ] as const) {
    it(`puts a collection off after ${what}, and goes on with the others`, async () => {
      const [bad, good] = [await collection(), await collection()];
      server.intercept = ({ url }) => (url.pathname.endsWith(bad) ? answer : null);
      const { lines } = start("sourcify", database, answer === "hang" ? { timeout: 2_000 } : {});
      expect((await verified(good)).verified).to.equal("implementation");
      expect(await tried(bad, 1)).to.deep.equal({ ...WAITING, tries: 1, error: reason });
      expect(JSON.stringify(lines)).to.not.contain(server.url);
    });
  }

  it("does not wait for ever for a job that never ends", async () => {
    const address = await collection();
    server.slow = Infinity;
    start("sourcify", database, { patience: 200 });
    expect((await tried(address, 1)).error).to.equal("Sourcify has not finished in time");
  });

  it("refuses what is not a clone, and asks nobody", async () => {
    code = "0x60806040";
    const address = await collection();
    start();
    expect((await tried(address, 1)).error).to.equal("its code on the chain is not that of a clone");
    expect(server.asked).to.deep.equal([]);
  });

  it("parks a collection whose row cannot be changed, and goes on with the others", async () => {
    const [bad, good] = [await collection(), await collection()];
    await poison(database, { table: "verifications", event: "update", when: `new.address = '${bad}'` });
    start();
    expect((await verified(good)).verified).to.equal("implementation");
    expect(await parkedIds(database, "verification")).to.deep.equal([bad]);
    expect(await row(bad)).to.deep.equal(WAITING);
  });

  it("asks the same again after a process was stopped in the middle", async () => {
    const address = await collection();
    server.slow = Infinity;
    const first = start();
    await eventually(() => Promise.resolve(server.asked.length > 2 || undefined));
    await first.stop();
    expect(await row(address)).to.deep.equal(WAITING);
    server.slow = 0;
    start();
    expect((await verified(address)).verified).to.equal("implementation");
  });

  it("is a finding of doctor only when all of the newest tries have failed", async () => {
    const find = async (verifyCollections: VerifyCollections) => {
      const context: Partial<DoctorContext> = { database, verifyCollections };
      const [finding] = [await verifiedCheck.run(context as DoctorContext)].flat();
      return `${finding?.result ?? ""}: ${finding?.words ?? ""}`;
    };
    expect(await find("off")).to.equal("ok: collections are not verified (VERIFY_COLLECTIONS)");
    expect(await find("sourcify")).to.equal("ok: no collection had to be verified");
    server.sources.clear();
    const address = await collection();
    start();
    await tried(address, 1);
    expect(await find("sourcify")).to.match(
      /^warning: The last try to verify a collection failed, the newest for 0x\w+: Sourcify does not have .* `contract verify`/,
    );
    server.sources.set(IMPLEMENTATION, "match");
    await verified(await collection());
    expect(await find("sourcify")).to.equal("ok: the verifier (sourcify) has the sources of collections");
  });

  it("is done by one of two processes", async () => {
    const addresses = [await collection(), await collection(), await collection()];
    const other = await openDatabase(database.url);
    try {
      start();
      start("sourcify", other);
      for (const address of addresses) await verified(address);
      await workers.stop();
    } finally {
      await other.close();
    }
    const sent = server.calls.filter((call) => call.startsWith("POST"));
    expect(sent.sort()).to.deep.equal(addresses.map((address) => `POST /v2/verify/similarity/31337/${address}`).sort());
  });
});
