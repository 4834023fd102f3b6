import { expect } from "chai";
import type { JsonRpcSigner } from "ethers";

import type { WizardERC721 } from "../../../types/ethers-contracts/mocks/WizardERC721.ts";
import { WizardERC721__factory } from "../../../types/ethers-contracts/factories/mocks/WizardERC721__factory.ts";
import { eventually } from "../../support/eventually.ts";
import type { ServiceFixture } from "../../support/service.ts";
import { useService } from "../../support/use-service.ts";
import { adoptAllowed, foreignRow, holdersOf, wrongTotals } from "../support/adopt.ts";

const CONFIRMATIONS = 4;
const MOST_MOVES = 20;

type State = "followed" | "quarantined" | "reading";

function untilIs(moneta: ServiceFixture, address: string, state: State): Promise<true> {
  return eventually(async () => ((await foreignRow(moneta, address)).state === state ? true : undefined));
}

/** Compares all holders that are stored with those of the chain. @returns them once they are the same. */
function sameAsChain(moneta: ServiceFixture, contract: WizardERC721, address: string): Promise<string[]> {
  return eventually(async () => {
    const stored = await holdersOf(moneta, address);
    const real: string[] = [];
    for (let id = 0n; id < (await contract.totalSupply()); id++)
      real.push(`${id.toString()} ${await contract.ownerOf(id)} 1`);
    return stored.join() === real.sort().join() ? stored : undefined;
  });
}

describe("an adopted contract, and reorgs and floods", () => {
  // The chain is reverted, the service waits for more confirmations, and floods begin early.
  const moneta = useService({
    settings: { CONFIRMATIONS: CONFIRMATIONS.toString() },
    limits: { foreignLogs: MOST_MOVES },
  });
  let owner: JsonRpcSigner;
  let stranger: JsonRpcSigner;

  before(async () => {
    [owner, stranger] = [await moneta.provider.getSigner(3), await moneta.provider.getSigner(4)];
  });

  async function deploy(size: number) {
    const contract = await new WizardERC721__factory(owner).deploy(owner.address, size);
    return { contract, address: await contract.getAddress() };
  }
  const rowOf = (address: string) => foreignRow(moneta, address);
  const reaches = (address: string, state: State) => untilIs(moneta, address, state);
  it("is rolled back with the blocks, also those that were read back", async () => {
    const { contract, address } = await deploy(2);
    await (await contract.transferFrom(owner.address, stranger.address, 0)).wait();
    const before: unknown = await moneta.provider.send("evm_snapshot", []);
    await (await contract.mint(stranger.address, 2)).wait();
    await adoptAllowed(moneta, address);
    await reaches(address, "followed");
    await (await contract.connect(stranger).transferFrom(stranger.address, owner.address, 0)).wait();
    expect(await sameAsChain(moneta, contract, address)).to.have.length(4);

    await moneta.provider.send("evm_revert", [before]);
    await (await contract.transferFrom(owner.address, stranger.address, 1)).wait();
    for (let count = 0; count < 4; count++) await (await contract.mint(owner.address, 1)).wait();
    expect(await sameAsChain(moneta, contract, address)).to.have.length(6);
    const { minted } = await moneta.service.database.read
      .selectFrom("collections")
      .select("minted")
      .where("address", "=", address)
      .executeTakeFirstOrThrow();
    expect(minted).to.equal(6);
  });

  it("is read further from where it flooded, once the quarantine is over", async () => {
    const { contract, address } = await deploy(1);
    await adoptAllowed(moneta, address);
    await reaches(address, "followed");
    await (await contract.mint(stranger.address, MOST_MOVES + 1)).wait();
    await reaches(address, "quarantined");
    await (await contract.connect(stranger).transferFrom(stranger.address, owner.address, 1)).wait();
    await moneta.caughtUp();
    const { as_of: asOf } = await rowOf(address);
    await moneta.service.database.write((trx) =>
      trx.updateTable("foreign_contracts").set({ due_at: 1 }).where("address", "=", address).execute(),
    );
    await reaches(address, "followed");
    expect(asOf).to.be.a("number");
    expect(await sameAsChain(moneta, contract, address)).to.have.length(MOST_MOVES + 2);
  });
});

describe("an adopted contract, and reorgs while it is read", () => {
  // The chain is reverted, and the service waits for more confirmations.
  const moneta = useService({ proxy: true, settings: { CONFIRMATIONS: CONFIRMATIONS.toString() } });
  let owner: JsonRpcSigner;
  let stranger: JsonRpcSigner;

  before(async () => {
    [owner, stranger] = [await moneta.provider.getSigner(3), await moneta.provider.getSigner(4)];
  });

  /** Blocks that follow each other, each with a mint, a transfer or a burn. @returns when they are mined. */
  async function fill(contract: WizardERC721, count: number): Promise<void> {
    for (let block = 0; block < count; block++) {
      const next = await contract.totalSupply();
      if (block % 3 === 0) await (await contract.mint(owner.address, 1)).wait();
      else if (block % 3 === 1) await (await contract.transferFrom(owner.address, stranger.address, next - 1n)).wait();
      else await (await contract.connect(stranger).transferFrom(stranger.address, owner.address, next - 1n)).wait();
    }
  }

  for (const depth of [CONFIRMATIONS - 1, 2 * CONFIRMATIONS]) {
    for (const moment of ["while it is read", "once it is read"] as const) {
      it(`is what the chain says after a reorg of ${depth.toString()} blocks ${moment}`, async () => {
        const contract = await new WizardERC721__factory(owner).deploy(owner.address, 2);
        const address = await contract.getAddress();
        await fill(contract, CONFIRMATIONS);
        const before: unknown = await moneta.provider.send("evm_snapshot", []);
        await fill(contract, depth);
        await (await contract.transferFrom(owner.address, stranger.address, 0)).wait();
        await moneta.caughtUp();
        const { hash: newest } = (await moneta.provider.getBlock("latest")) ?? {};
        let reorgs = 0;
        const reorg = async () => {
          reorgs += 1;
          await moneta.provider.send("evm_revert", [before]);
          await (await contract.transferFrom(owner.address, stranger.address, 1)).wait();
          await fill(contract, depth + 1);
        };
        moneta.intercept = async ({ method, params }) => {
          if (method !== "eth_getLogs" || moment !== "while it is read" || reorgs > 0) return undefined;
          const [query] = params as [{ address?: string | string[]; blockHash?: string }];
          const isPast = [query.address].flat().some((one) => one?.toLowerCase() === address.toLowerCase());
          // What is final is stored already.
          if (isPast && query.blockHash === newest) await reorg();
          return undefined;
        };
        await adoptAllowed(moneta, address);
        if (moment === "once it is read") {
          await untilIs(moneta, address, "followed");
          await reorg();
        }
        await untilIs(moneta, address, "followed");
        const holders = await sameAsChain(moneta, contract, address);
        expect(holders).to.have.length(Number(await contract.totalSupply()));
        expect([reorgs, (await foreignRow(moneta, address)).quarantines]).to.deep.equal([1, 0]);
        expect(await wrongTotals(moneta)).to.deep.equal([]);
      });
    }
  }
});
