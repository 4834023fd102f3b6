import { expect } from "chai";
import type { JsonRpcSigner } from "ethers";

import type { WizardERC721 } from "../../../types/ethers-contracts/mocks/WizardERC721.ts";
import { WizardERC721__factory } from "../../../types/ethers-contracts/factories/mocks/WizardERC721__factory.ts";
import { eventually } from "../../support/eventually.ts";
import { useService } from "../../support/use-service.ts";
import { adoptAllowed, foreignRow, holdersOf } from "../support/adopt.ts";

const CONFIRMATIONS = 4;
const MOST_MOVES = 20;

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
  const reaches = (address: string, state: "followed" | "quarantined" | "reading") =>
    eventually(async () => ((await rowOf(address)).state === state ? true : undefined));
  /** Compares all holders that are stored with those of the chain. */
  const sameAsChain = (contract: WizardERC721, address: string) =>
    eventually(async () => {
      const stored = await holdersOf(moneta, address);
      const real: string[] = [];
      for (let id = 0n; id < (await contract.totalSupply()); id++)
        real.push(`${id.toString()} ${await contract.ownerOf(id)} 1`);
      return stored.join() === real.sort().join() ? stored : undefined;
    });

  it("is rolled back with the blocks, also those that were read back", async () => {
    const { contract, address } = await deploy(2);
    await (await contract.transferFrom(owner.address, stranger.address, 0)).wait();
    const before: unknown = await moneta.provider.send("evm_snapshot", []);
    await (await contract.mint(stranger.address, 2)).wait();
    await adoptAllowed(moneta, address);
    await reaches(address, "followed");
    await (await contract.connect(stranger).transferFrom(stranger.address, owner.address, 0)).wait();
    expect(await sameAsChain(contract, address)).to.have.length(4);

    await moneta.provider.send("evm_revert", [before]);
    await (await contract.transferFrom(owner.address, stranger.address, 1)).wait();
    for (let count = 0; count < 4; count++) await (await contract.mint(owner.address, 1)).wait();
    expect(await sameAsChain(contract, address)).to.have.length(6);
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
    expect(await sameAsChain(contract, address)).to.have.length(MOST_MOVES + 2);
  });
});
