import type { Bench } from "./bench.ts";
import { of, type Rows } from "./rows.ts";
import { ERC721A_YARDSTICK, erc1155Yardstick, erc721Yardstick } from "./yardsticks.ts";

/** Gas of creating a collection, against deploying a reference contract. */
export async function measureCreation(bench: Bench): Promise<Rows> {
  const rows: Rows = {};
  const erc721 = await deploymentGas(bench, "YardstickERC721", erc721Yardstick(bench));
  const erc1155 = await deploymentGas(bench, "YardstickERC1155", erc1155Yardstick(bench));
  const erc721a = await deploymentGas(bench, "YardstickERC721A", ERC721A_YARDSTICK);
  for (const count of [1, 100]) {
    for (const hosted of [true, false]) {
      const hosting = hosted ? "hosted" : "self-hosted";
      rows[`create ERC721, ${hosting}, ${of(count)}`] = {
        moneta: await bench.batch(count, () => bench.creation("createERC721", bench.erc721Arguments(hosted))),
        openZeppelin: erc721,
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
