import type { Bench } from "./bench.ts";
import { of, type Measured } from "./rows.ts";
import { erc1155Yardstick, erc721Yardstick, PLAIN_YARDSTICK } from "./yardsticks.ts";

/** Gas of creating a collection, against deploying a reference contract. */
export async function measureCreation(bench: Bench): Promise<Measured> {
  const rows: Measured = {};
  const erc721 = await deploymentGas(bench, "YardstickERC721", erc721Yardstick(bench));
  const erc1155 = await deploymentGas(bench, "YardstickERC1155", erc1155Yardstick(bench));
  const erc721a = await deploymentGas(bench, "YardstickERC721A", PLAIN_YARDSTICK);
  const solady = await deploymentGas(bench, "YardstickSolady", PLAIN_YARDSTICK);
  for (const count of [1, 100]) {
    for (const hosted of [true, false]) {
      const hosting = hosted ? "hosted" : "self-hosted";
      rows[`create ERC721, ${hosting}, ${of(count)}`] = {
        moneta: await bench.batch(count, () => bench.creation("createERC721", bench.erc721Arguments(hosted))),
        openZeppelin: erc721,
        solady,
        erc721a,
      };
      rows[`create ERC1155, ${hosting}, ${of(count)}`] = {
        moneta: await bench.batch(count, () => bench.creation("createERC1155", bench.erc1155Arguments(hosted))),
        openZeppelin: erc1155,
      };
    }
  }
  return rows;
}

async function deploymentGas(bench: Bench, name: string, args: unknown[]) {
  const factory = await bench.ethers.getContractFactory(name);
  const contract = await factory.deploy(...args);
  return Number((await contract.deploymentTransaction()!.wait())!.gasUsed);
}
