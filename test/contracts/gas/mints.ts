import type { Bench } from "./bench.ts";
import { of, type Measured } from "./rows.ts";
import { erc1155Yardstick, erc721Yardstick, PLAIN_YARDSTICK } from "./yardsticks.ts";

/** Gas of minting ERC721 tokens. */
export async function measureErc721Mints(bench: Bench): Promise<Measured> {
  const rows: Measured = {};
  const { collection, target } = await bench.erc721();
  const mint = (to: string) => ({ target, data: collection.interface.encodeFunctionData("mint", [to]) });
  const mintToWallet = (to: string) => ({
    target,
    data: collection.interface.encodeFunctionData("mintToWallet", [to]),
  });
  const yardstick = await bench.ethers.deployContract("YardstickERC721", erc721Yardstick(bench));
  const solady = await bench.ethers.deployContract("YardstickSolady", PLAIN_YARDSTICK);
  const erc721a = await bench.ethers.deployContract("YardstickERC721A", PLAIN_YARDSTICK);
  const holder = bench.wallet().address;

  rows["mint ERC721, the first of a collection, batch of 1"] = {
    moneta: await bench.batch(1, () => mint(holder)),
    openZeppelin: await bench.transaction(yardstick.mint(holder)),
    solady: await bench.transaction(solady.mint(holder)),
    erc721a: await bench.transaction(erc721a.mint(holder, 1n)),
  };
  for (const count of [1, 10, 100]) {
    rows[`mint ERC721 to a new holder, ${of(count)}`] = {
      moneta: await bench.batch(count, () => mint(bench.wallet().address)),
      openZeppelin: await bench.transaction(yardstick.mint(bench.wallet().address)),
      solady: await bench.transaction(solady.mint(bench.wallet().address)),
      erc721a: await bench.transaction(erc721a.mint(bench.wallet().address, 1n)),
    };
    rows[`mint ERC721 to a new wallet of the service, ${of(count)}`] = {
      moneta: await bench.batch(count, () => mintToWallet(bench.wallet().address)),
    };
    rows[`mint ERC721 to one existing holder, ${of(count)}`] = {
      moneta: await bench.batch(count, () => mint(holder)),
      openZeppelin: await bench.transaction(yardstick.mint(holder)),
      solady: await bench.transaction(solady.mint(holder)),
      erc721a: Math.round((await bench.transaction(erc721a.mint(holder, BigInt(count)))) / count),
    };
  }
  return rows;
}

/** Gas of creating ERC1155 ids and minting copies. */
export async function measureErc1155Mints(bench: Bench): Promise<Measured> {
  const rows: Measured = {};
  const { collection, target } = await bench.erc1155();
  let ids = 0n;
  const create = (to: string) => ({
    target,
    data: collection.interface.encodeFunctionData("create", [to, ++ids, 10n, ""]),
  });
  const mint = (to: string) => ({ target, data: collection.interface.encodeFunctionData("mint", [to, 1n, 10n]) });
  const yardstick = await bench.ethers.deployContract("YardstickERC1155", erc1155Yardstick(bench));
  const holder = bench.wallet().address;

  for (const count of [1, 10, 100]) {
    rows[`create an ERC1155 id, ${of(count)}`] = {
      moneta: await bench.batch(count, () => create(holder)),
      openZeppelin: await bench.transaction(yardstick.mint(holder, BigInt(count), 10n)),
    };
  }
  for (const count of [1, 10, 100]) {
    rows[`mint an existing ERC1155 id to a new holder, ${of(count)}`] = {
      moneta: await bench.batch(count, () => mint(bench.wallet().address)),
      openZeppelin: await bench.transaction(yardstick.mint(bench.wallet().address, 1n, 10n)),
    };
    rows[`mint an existing ERC1155 id to one existing holder, ${of(count)}`] = {
      moneta: await bench.batch(count, () => mint(holder)),
      openZeppelin: await bench.transaction(yardstick.mint(holder, 1n, 10n)),
    };
  }
  return rows;
}
