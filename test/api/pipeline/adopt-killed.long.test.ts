import { expect } from "chai";
import type { JsonRpcSigner } from "ethers";

import { LimitedProvider } from "../../../scripts/scene/limited-provider.ts";
import type { WizardERC1155 } from "../../../types/ethers-contracts/mocks/WizardERC1155.ts";
import { WizardERC1155__factory } from "../../../types/ethers-contracts/factories/mocks/WizardERC1155__factory.ts";
import { WizardERC721__factory } from "../../../types/ethers-contracts/factories/mocks/WizardERC721__factory.ts";
import { useService } from "../../support/use-service.ts";
import { adoptAllowed, foreignRow, holdersOf, readBack, wrongTotals } from "../support/adopt.ts";

/** Tokens that the constructor gives away, and tokens and copies that are minted later. */
const [GIVEN, MINTED] = [2_500, 500];
/** Blocks with moves before the adoption. */
const MOVES = 60;
/** Processes that are killed, each when it has stored one part of a past. */
const KILLS = 4;

describe("the past of adopted contracts, read by processes that are killed", () => {
  // The service in this process answers calls. The processes that are killed read the chain.
  const moneta = useService({ settings: { ROLES: "api" } });
  let provider: LimitedProvider;
  let owner: JsonRpcSigner;
  let stranger: JsonRpcSigner;

  before(async () => {
    [owner, stranger] = [await moneta.provider.getSigner(3), await moneta.provider.getSigner(4)];
    provider = await LimitedProvider.start(moneta.node.url, { blocks: 4 });
  });
  after(() => provider.stop());

  async function copiesOf(contract: WizardERC1155, ids: readonly number[]): Promise<string[]> {
    const held: string[] = [];
    for (const id of ids)
      for (const { address } of [owner, stranger]) {
        const balance = await contract.balanceOf(address, id);
        if (balance > 0n) held.push(`${id.toString()} ${address} ${balance.toString()}`);
      }
    return held.sort();
  }

  it("is what the chain says in the end, while tokens move", async () => {
    const erc721 = await new WizardERC721__factory(owner).deploy(owner.address, GIVEN);
    const erc1155 = await new WizardERC1155__factory(owner).deploy(owner.address);
    const [one, other] = [await erc721.getAddress(), await erc1155.getAddress()];
    const ids = Array.from({ length: 100 }, (_, id) => id);
    for (let count = 0; count < MINTED; count += 100) {
      await (await erc721.mint(stranger.address, 100)).wait();
      await (
        await erc1155.mintBatch(
          owner.address,
          ids,
          ids.map(() => 10),
        )
      ).wait();
    }
    let next = 0;
    const isBurnt = (id: number) => id < next && id % 4 === 0;
    const move = async () => {
      const [ends, burns] = [[owner.address, stranger.address] as const, next % 4 === 0];
      await (await (burns ? erc721.burn(next) : erc721.transferFrom(...ends, next))).wait();
      const copies = [next % 100, 1] as const;
      await (await (burns ? erc1155.burn(...copies) : erc1155.safeTransferFrom(...ends, ...copies, "0x"))).wait();
      next += 1;
    };
    for (let count = 0; count < MOVES; count++) await move();

    const start = (settings = {}) => moneta.spawn({ ROLES: "indexer", RPC_URL: provider.url, PORT: "0", ...settings });
    const first = start();
    await moneta.caughtUp();
    await first.end("SIGKILL");
    for (const address of [one, other]) await adoptAllowed(moneta, address);
    for (let kill = 0; kill < KILLS; kill++) {
      expect(await start({ CRASH_POINT: "indexer:past" }).gone()).to.equal("SIGKILL");
      await move();
      // Its lease is over.
      await moneta.service.database.write((trx) => trx.updateTable("foreign_contracts").set({ due_at: 1 }).execute());
    }
    expect((await foreignRow(moneta, one)).state).to.equal("reading");
    const processes = [start(), start()];
    await move();
    for (const address of [one, other]) await readBack(moneta, address);
    await move();
    await moneta.caughtUp();

    const tokens = Array.from({ length: GIVEN + MINTED }, (_, id) => id);
    const real: string[] = [];
    for (const id of tokens.filter((one) => !isBurnt(one))) real.push(`${id.toString()} ${await erc721.ownerOf(id)} 1`);
    expect(await holdersOf(moneta, one)).to.deep.equal(real.sort());
    expect(await holdersOf(moneta, other)).to.deep.equal(await copiesOf(erc1155, ids));
    const { count } = await moneta.service.database.read
      .selectFrom("transfers")
      .select((eb) => eb.fn.countAll<number | string>().as("count"))
      .where("contract", "=", one)
      .executeTakeFirstOrThrow();
    expect(Number(count)).to.equal(GIVEN + MINTED + next);
    expect(await wrongTotals(moneta)).to.deep.equal([]);
    await Promise.all(processes.map((process) => process.end("SIGTERM")));
  });
});
