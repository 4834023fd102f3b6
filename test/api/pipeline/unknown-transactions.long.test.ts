import { expect } from "chai";

import { StartupError } from "../../../api/context/startup-error.ts";
import type { Examination } from "../../../api/checks/examine.ts";
import type { Reconciliation } from "../../../api/operate/reconcile/reconcile.ts";
import { readMeta } from "../../../api/store/db/meta.ts";
import { openBatches } from "../../../api/store/sending/batches.ts";
import { ERC721Collection__factory } from "../../../types/ethers-contracts/factories/ERC721Collection__factory.ts";
import type { RequestBody } from "../../support/api-client.ts";
import { eventually } from "../../support/eventually.ts";
import { useService } from "../../support/use-service.ts";
import { jsonOfCli, runCli } from "../cli/support/run.ts";
import { countedTotals } from "../support/contents.ts";

/** All roles but the relayer: requests are accepted and stay pending. */
const NOT_SENDING = { ROLES: "api,indexer" };

/** The tests are steps of one restore, in order. */
describe("an old copy of the database, whose later transactions are mined after the start", () => {
  // The service must not send its transaction again after the test has removed it from the pool.
  const moneta = useService({ start: false, tuned: { rebroadcastSeconds: 3_600 } });
  const { api } = moneta;

  const mine = () => moneta.provider.send("evm_mine", []);
  /** The batch that the running service has sent last, once it is with the node. */
  const sentBatch = () =>
    eventually(async () => {
      const [batch] = await openBatches(moneta.service.database.read);
      return batch?.attempts[0]?.sentAt == null ? undefined : batch;
    });

  let collection: string;
  let alice: string;
  let bob: string;
  /** The request that the lost transaction carries. */
  let waiting: string;
  let fresh: string;
  let lost: { hash: string; raw: string };

  const mintTo = (to: string) => ({ collection_address: collection, to_address: to });
  const minted = () => ERC721Collection__factory.connect(collection, moneta.provider).totalMinted();

  before("send a request after the copy was made, and go back to the copy", async () => {
    await moneta.start();
    [collection, alice, bob] = [await api.collection({ type: "ERC721" }), await api.wallet(), await api.wallet()];
    await api.mint(collection, alice);
    await moneta.restart(NOT_SENDING);
    waiting = await api.accept("/v1/nfts", mintTo(bob));
    await moneta.stop();
    const goBack = await moneta.database.backUp();
    // The transaction waits at other nodes only.
    await moneta.provider.send("evm_setAutomine", [false]);
    await moneta.start();
    const [attempt] = (await sentBatch()).attempts;
    if (attempt?.raw == null) throw new Error("the batch has an attempt");
    lost = { hash: attempt.hash, raw: attempt.raw };
    await moneta.stop();
    await moneta.provider.send("hardhat_dropTransaction", [lost.hash]);
    await goBack();
  });

  it("stops the lanes with a message that says what to do, and sends nothing again", async () => {
    // The copy knows nothing of it, and the service sends the request again, together with a new one.
    await moneta.start(NOT_SENDING);
    fresh = await api.accept("/v1/nfts", mintTo(alice));
    await moneta.restart();
    const own = await sentBatch();
    await moneta.provider.send("hardhat_dropTransaction", [own.attempts[0]?.hash]);
    await moneta.provider.send("eth_sendRawTransaction", [lost.raw]);
    await mine();
    await moneta.provider.send("evm_setAutomine", [true]);
    const { database } = moneta.service;
    const unknown = await eventually(async () => (await readMeta(database.read, "unknown_transaction")) ?? undefined);
    expect(unknown).to.equal(lost.hash);
    await eventually(() => {
      const words = moneta.service.workers.map(({ worker }) => worker.lastError ?? "").join(" ");
      return words.includes(`The chain has transaction ${lost.hash}`) && words.includes("reconcile") ? true : undefined;
    });
    // Blocks pass. No request of the batch that lost its nonce is sent again.
    for (let count = 0; count < 10; count++) await mine();
    await moneta.caughtUp();
    expect(await minted()).to.equal(2n);
    expect((await openBatches(database.read)).map(({ id }) => id)).to.deep.equal([own.id]);
    await moneta.stop();
  });

  it("does not start again, and doctor says why", async () => {
    const refused: unknown = await moneta.start().catch((thrown: unknown) => thrown);
    expect(refused).to.be.instanceOf(StartupError);
    expect((refused as Error).message)
      .to.include(lost.hash)
      .and.include("reconcile");
    const examined = JSON.parse((await runCli(moneta.env, "doctor", "--json")).output) as Examination;
    const problems = examined.findings.filter(({ result }) => result === "problem").map(({ words }) => words);
    expect(problems.join()).to.include(lost.hash);
  });

  it("is repaired by reconcile: nothing is counted twice, and the lanes go on", async () => {
    const result = await jsonOfCli<Reconciliation>(moneta.env, "reconcile");
    expect(result.recovery?.uncertain).to.deep.equal([waiting]);
    await moneta.start();
    const of = (id: string) => api.ok<RequestBody>("GET", `/v1/requests/${id}`);
    expect(await of(waiting)).to.include({ status: "failed", error_code: "number_taken" });
    expect(await api.settled(fresh)).to.include({ status: "completed" });
    expect(await minted()).to.equal(3n);
    const { total } = await api.ok<{ total: number }>("GET", `/v1/collections/${collection}`);
    expect(total).to.equal(3);
    expect(await countedTotals(moneta.service.database)).to.deep.equal([]);
    await api.mint(collection, bob);
    await moneta.stop();
    const again = await jsonOfCli<Reconciliation>(moneta.env, "reconcile");
    expect(again.recovery).to.equal(null);
    expect(again.comparison.differences).to.equal(0);
  });
});

describe("start-up from an old backup whose later transactions are still pending in the node", () => {
  // The service starts on an old copy of its database.
  const moneta = useService({ start: false });

  it("is refused, because requests could be executed twice", async () => {
    await moneta.start();
    const { api } = moneta;
    const [collection, to] = [await api.collection({ type: "ERC721" }), await api.wallet()];
    await moneta.restart({ ROLES: "api" });
    await api.accept("/v1/nfts", { collection_address: collection, to_address: to });
    await moneta.stop();
    const restore = await moneta.database.backUp();

    await moneta.provider.send("evm_setAutomine", [false]);
    await moneta.start();
    await eventually(
      async () => (await openBatches(moneta.service.database.read))[0]?.attempts[0]?.sentAt ?? undefined,
    );
    await moneta.stop();
    await restore();

    const error: unknown = await moneta.start().catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(StartupError);
    expect((error as Error).message).to.match(/wait in the node's pool/);
  });
});
