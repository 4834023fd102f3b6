import type { Bench } from "./bench.ts";
import { type Measured, of } from "./rows.ts";
import { erc721Yardstick, PLAIN_YARDSTICK } from "./yardsticks.ts";

/** Of a row's name: its mints go through the same relay for all contracts. */
export const RELAYED = "mint ERC721 through the relay";

type Contract = "moneta" | "openZeppelin" | "solady" | "erc721a";
type Call = (to: string) => { target: string; data: string };

/** Gas of mints by the relay, in batches: into Moneta's collection and into the reference contracts, which the relay owns. */
export async function measureRelayed(bench: Bench, contracts: readonly Contract[]): Promise<Measured> {
  const calls = await deployAll(bench);
  const rows: Record<string, Record<string, number>> = {};
  for (const contract of contracts) {
    const mint = calls[contract];
    // The first mint of a collection writes what later ones only change.
    await bench.prepare(1, () => mint(bench.wallet().address));
    for (const count of [1, 10, 100]) {
      const holders = Array.from({ length: count }, () => bench.wallet().address);
      for (const who of ["a new holder", "a holder who has one"]) {
        const name = `${RELAYED} to ${who}, ${of(count)}`;
        rows[name] = { ...rows[name], [contract]: await bench.batch(count, (_number, index) => mint(holders[index]!)) };
      }
    }
  }
  return rows;
}

async function deployAll(bench: Bench): Promise<Record<Contract, Call>> {
  const { relayAddress, ethers } = bench;
  const { collection, target: moneta } = await bench.erc721();
  const openZeppelin = await ethers.deployContract("YardstickERC721", erc721Yardstick(bench));
  const solady = await ethers.deployContract("YardstickSolady", PLAIN_YARDSTICK);
  const erc721a = await ethers.deployContract("YardstickERC721A", PLAIN_YARDSTICK);
  for (const contract of [openZeppelin, solady, erc721a]) await contract.transferOwnership(relayAddress);
  const accept = openZeppelin.interface.encodeFunctionData("acceptOwnership");
  const targets = {
    openZeppelin: await openZeppelin.getAddress(),
    solady: await solady.getAddress(),
    erc721a: await erc721a.getAddress(),
  };
  await bench.prepare(1, () => ({ target: targets.openZeppelin, data: accept }));
  return {
    moneta: (to) => ({ target: moneta, data: collection.interface.encodeFunctionData("mint", [to]) }),
    openZeppelin: (to) => ({
      target: targets.openZeppelin,
      data: openZeppelin.interface.encodeFunctionData("mint", [to]),
    }),
    solady: (to) => ({ target: targets.solady, data: solady.interface.encodeFunctionData("mint", [to]) }),
    erc721a: (to) => ({ target: targets.erc721a, data: erc721a.interface.encodeFunctionData("mint", [to, 1n]) }),
  };
}
