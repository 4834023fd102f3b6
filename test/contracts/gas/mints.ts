import { BASE_URI, type Bench, CONTRACT_URI, NAME, SYMBOL, TEMPLATE } from "./bench.ts";
import { type Measured, of, RELAYED } from "./rows.ts";

/** Constructor arguments of the reference contracts: the same collection as the one measured. */
function erc721Yardstick(bench: Bench): unknown[] {
  return [NAME, SYMBOL, BASE_URI, CONTRACT_URI, 10_000n, bench.royaltyRecipient.address, 500n];
}

export function erc1155Yardstick(bench: Bench): unknown[] {
  return [NAME, SYMBOL, TEMPLATE, CONTRACT_URI, bench.royaltyRecipient.address, 500n];
}

/** Of ERC721A and Solady. */
const PLAIN_YARDSTICK: unknown[] = [NAME, SYMBOL, BASE_URI];

/** The reference contracts for ERC721. */
export async function deployYardsticks(bench: Bench) {
  return {
    openZeppelin: await bench.ethers.deployContract("YardstickERC721", erc721Yardstick(bench)),
    solady: await bench.ethers.deployContract("YardstickSolady", PLAIN_YARDSTICK),
    erc721a: await bench.ethers.deployContract("YardstickERC721A", PLAIN_YARDSTICK),
  };
}

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

/** Gas of minting ERC721 tokens. */
export async function measureErc721Mints(bench: Bench): Promise<Measured> {
  const rows: Measured = {};
  const { collection, target } = await bench.erc721();
  const minting = (fragment: "mint" | "mintToWallet") => (to: string) => ({
    target,
    data: collection.interface.encodeFunctionData(fragment as "mint", [to]),
  });
  const [mint, mintToWallet] = [minting("mint"), minting("mintToWallet")];
  const { openZeppelin: yardstick, solady, erc721a } = await deployYardsticks(bench);
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
  const { collection, target } = await bench.erc721();
  const { openZeppelin, solady, erc721a } = await deployYardsticks(bench);
  for (const contract of [openZeppelin, solady, erc721a]) await contract.transferOwnership(bench.relayAddress);
  const [plain, fast, batched] = [openZeppelin.target as string, solady.target as string, erc721a.target as string];
  const accept = openZeppelin.interface.encodeFunctionData("acceptOwnership");
  await bench.prepare(1, () => ({ target: plain, data: accept }));
  return {
    moneta: (to) => ({ target, data: collection.interface.encodeFunctionData("mint", [to]) }),
    openZeppelin: (to) => ({ target: plain, data: openZeppelin.interface.encodeFunctionData("mint", [to]) }),
    solady: (to) => ({ target: fast, data: solady.interface.encodeFunctionData("mint", [to]) }),
    erc721a: (to) => ({ target: batched, data: erc721a.interface.encodeFunctionData("mint", [to, 1n]) }),
  };
}
