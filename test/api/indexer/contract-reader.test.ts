import { pino } from "pino";
import { expect } from "chai";

import type { Shape } from "../../../client/client.ts";
import { DEFAULT_LIMITS, FOREIGN_CALL_GAS } from "../../../api/config/limits.ts";
import { quarantineLength } from "../../../api/domain/followed-contract.ts";
import { HostileERC721__factory } from "../../../types/ethers-contracts/factories/mocks/HostileERC721__factory.ts";
import { PlainERC721__factory } from "../../../types/ethers-contracts/factories/mocks/PlainERC721__factory.ts";
import { eventually } from "../../support/eventually.ts";
import { type ContractPage, readContract } from "../../support/read-contract.ts";
import type { ServiceFixture } from "../../support/service.ts";
import { useService } from "../../support/use-service.ts";
import { ChainClient } from "../../../api/chain/client.ts";
import { ContractReader } from "../../../api/indexer/contract-reader.ts";
import { Signal } from "../../../api/shared/signal.ts";

/**
 * The background reader of one more process. It works only when a test calls `step`, and its time is the test's.
 * @param now time in milliseconds since 1970.
 */
function contractReader(moneta: ServiceFixture, now: () => number): ContractReader {
  return new ContractReader({
    database: moneta.service.database,
    client: new ChainClient(moneta.node.url),
    wake: new Signal(),
    logger: pino({ level: "silent" }),
    now,
    confirmations: 0,
    foreignCallGas: FOREIGN_CALL_GAS,
    readsPerMinute: DEFAULT_LIMITS.contractReads,
  });
}

const HONEST = 0;
const BURN_ALL_GAS = 2;
const MINUTE = 60_000;
/** Longer than the lease of a read. */
const LEASE_IS_OVER = 65_000;

function contents(moneta: ServiceFixture, wallet: string, contract: string): Promise<ContractPage> {
  return moneta.api.ok<ContractPage>("GET", `/v1/accounts/${wallet}/${contract}`);
}

function readRow(moneta: ServiceFixture, contract: string) {
  return moneta.service.database.read
    .selectFrom("contract_reads")
    .select(["due_at", "fence", "search"])
    .where("contract", "=", contract)
    .executeTakeFirstOrThrow();
}

describe("a contract in quarantine", () => {
  // The test's own reader, whose time is later, works on everything that is due.
  const moneta = useService({ limits: { contractReads: 1_000 } });
  const { api } = moneta;

  const stateOf = async (address: string): Promise<Shape<"FollowedContract"> | undefined> =>
    (await api.ok<Shape<"ContractsPage">>("GET", "/v1/contracts")).contracts.find((one) => one.address === address);
  /** @returns when the quarantine ends, in milliseconds. */
  const quarantined = (address: string) =>
    eventually(async () => {
      if ((await stateOf(address))?.state !== "quarantined") return undefined;
      const row = await moneta.service.database.read
        .selectFrom("foreign_contracts")
        .select("due_at")
        .where("address", "=", address)
        .executeTakeFirstOrThrow();
      return row.due_at ?? undefined;
    });

  it("is released when its time is over, and its wallets are complete again", async () => {
    const outsider = await moneta.provider.getSigner(3);
    const hostile = await (await new HostileERC721__factory(outsider).deploy()).waitForDeployment();
    const [address, wallet] = [await hostile.getAddress(), await api.wallet()];
    await (await hostile.claim(1, wallet)).wait();
    await (await hostile.spam(outsider.address, wallet, 1, 1)).wait();
    expect(await readContract(api, wallet, address, await moneta.provider.getBlockNumber())).to.include({ total: 1 });

    const misbehave = async () => {
      await (await hostile.program(BURN_ALL_GAS)).wait();
      await (await hostile.spam(outsider.address, wallet, 100, 20)).wait();
      return quarantined(address);
    };
    const started = Date.now();
    const until = await misbehave();
    expect(until).to.be.within(started + quarantineLength(0), Date.now() + quarantineLength(0));

    // While it is left alone it loses token 1, and gets token 2.
    await (await hostile.program(HONEST)).wait();
    await (await hostile.claim(1, outsider.address)).wait();
    await (await hostile.claim(2, wallet)).wait();
    await (await hostile.spam(outsider.address, wallet, 2, 1)).wait();
    const head = await moneta.provider.getBlockNumber();
    await contractReader(moneta, () => until - 1).step();
    expect(await stateOf(address)).to.include({ state: "quarantined", reason: "failing" });
    expect((await contents(moneta, wallet, address)).as_of_block).to.be.below(head);

    await contractReader(moneta, () => until).step();
    expect(await stateOf(address)).to.include({ state: "followed", reason: null });
    const page = await readContract(api, wallet, address, head);
    expect(page.nfts.map((nft) => nft.token_id)).to.deep.equal([2]);

    // Soon after its release, the next quarantine lasts twice as long.
    const startedAgain = Date.now();
    const again = await misbehave();
    expect(again).to.be.within(startedAgain + quarantineLength(1), Date.now() + quarantineLength(1));
    expect(quarantineLength(1)).to.equal(2 * quarantineLength(0));
  });
});

describe("a process that is killed while it reads a foreign contract", () => {
  // The service is a process, because it is killed.
  const moneta = useService({ proxy: true, start: false });

  it("leaves the read to the next process, which finishes it once", async () => {
    const process = await moneta.startProcess();
    const { api } = moneta;
    const plain = await new PlainERC721__factory(await moneta.provider.getSigner(3)).deploy();
    const [contract, wallet] = [await plain.getAddress(), await api.wallet()];
    await (await plain.mint(wallet, 7)).wait();
    // Completed: the indexer has read the block of the mint. So only the contract reader reads token 7.
    await api.collection({ type: "ERC721" });
    const ownerOf = plain.interface.getFunction("ownerOf").selector;
    const reading = new Promise<void>((resolve) => {
      moneta.intercept = ({ method, params }) => {
        if (method !== "eth_call" || !JSON.stringify(params[0]).includes(ownerOf)) return undefined;
        resolve();
        // The answer never comes.
        return new Promise(() => undefined);
      };
    });
    expect((await contents(moneta, wallet, contract)).as_of_block).to.equal(null);
    await reading;
    expect(await process.end("SIGKILL")).to.equal("SIGKILL");
    moneta.intercept = null;

    // No worker: however long this takes, only the test's own reader can go on with the read.
    await moneta.start({ ROLES: "api" });
    // The answer stays honest: nothing was read yet, and no later call does it again.
    const taken = await readRow(moneta, contract);
    expect(await contents(moneta, wallet, contract)).to.include({ as_of_block: null, total: 0 });
    expect(await readRow(moneta, contract)).to.deep.equal(taken);
    expect(taken.due_at).to.be.a("number");

    await contractReader(moneta, () => Date.now() + LEASE_IS_OVER).step();
    const page = await readContract(api, wallet, contract, 1);
    expect(page.nfts.map((nft) => nft.token_id)).to.deep.equal([7]);
    expect(await readRow(moneta, contract)).to.include({ due_at: null, search: taken.search });
    const left = await moneta.service.database.read.selectFrom("uncertain_holdings").selectAll().execute();
    expect(left).to.deep.equal([]);
  });
});

describe("wallets of one app whose foreign contents are asked for", () => {
  // No worker: the test's own reader does all reads, at the test's time.
  const moneta = useService({ settings: { ROLES: "api" } });
  const MORE = 5;

  it("are read up to the app's limit in a minute, and the others in the next one", async () => {
    const limit = DEFAULT_LIMITS.contractReads;
    const other = await moneta.createApp("other");
    const plain = await new PlainERC721__factory(await moneta.provider.getSigner(3)).deploy();
    const contract = await plain.getAddress();
    await plain.waitForDeployment();
    // Later than the service plans any of these reads, however long that takes.
    let now = (Math.ceil(Date.now() / MINUTE) + 60) * MINUTE;
    const reader = contractReader(moneta, () => now);
    const readAll = async () => {
      while ((await reader.step()) !== "idle");
    };
    const planned = async () =>
      (
        await moneta.service.database.read
          .selectFrom("contract_reads")
          .select("app_id")
          .where("due_at", "is not", null)
          .execute()
      ).map((row) => row.app_id);

    const wallets: string[] = [];
    for (let count = 0; count < limit + MORE; count++) wallets.push(await moneta.api.wallet());
    // Each asks twice: a second GET plans no further read.
    for (const wallet of [...wallets, ...wallets]) await contents(moneta, wallet, contract);
    await readAll();
    expect(await planned()).to.deep.equal(Array(MORE).fill(moneta.app.appId));

    // Another app has a limit of its own.
    const theirs = await other.wallet();
    await other.ok("GET", `/v1/accounts/${theirs}/${contract}`);
    await readAll();
    expect(await planned()).to.deep.equal(Array(MORE).fill(moneta.app.appId));

    now += MINUTE;
    await readAll();
    expect(await planned()).to.deep.equal([]);
  });
});
