import { AbiCoder, type BaseWallet, concat } from "ethers";

import { blockCandidates } from "../support/compact-layout.ts";
import type { Bench } from "./bench.ts";
import type { Measured } from "./rows.ts";

const BATCH = 100;

/** Gas of what depends on how owners and balances of ERC721 tokens are stored: known receivers, burning, reading. */
export async function measureHolders(bench: Bench): Promise<Measured> {
  const { collection, target } = await bench.erc721();
  const mint = (to: string) => ({ target, data: collection.interface.encodeFunctionData("mintToWallet", [to]) });
  const holders = Array.from({ length: BATCH }, () => bench.wallet());
  const receivers = Array.from({ length: BATCH }, () => bench.wallet());
  const everybody = [...holders, ...receivers, bench.operator, bench.operator];
  await bench.prepare(everybody.length, (_number, index) => mint(everybody[index]!.address));
  return {
    "mint ERC721 to a wallet that has one, batch of 100, per item": {
      moneta: await bench.batch(BATCH, (_number, index) => mint(holders[index]!.address)),
    },
    "transfer ERC721 by authorization to a holder, batch of 100, per item": {
      moneta: await bench.batch(BATCH, (number, index) =>
        transfer(bench, collection, { from: holders[index]!, to: receivers[index]!.address }, index + 1, number),
      ),
    },
    "burn ERC721 directly, by its holder": {
      moneta: await bench.transaction(collection.connect(bench.operator).burn(2 * BATCH + 1)),
    },
    "burn ERC721 directly, the holder's only one": {
      moneta: await bench.transaction(collection.connect(bench.operator).burn(2 * BATCH + 2)),
    },
    "ownerOf, called by a contract": { moneta: await coldCall(bench, target, "ownerOf", [BATCH + 5]) },
    "balanceOf, called by a contract": { moneta: await coldCall(bench, target, "balanceOf", [holders[5]!.address]) },
  };
}

/** Gas in a compact collection for holders whose four keys others have taken. */
export async function measureBlockedHolders(bench: Bench): Promise<Measured> {
  const { collection, target } = await bench.erc721();
  const mint = (to: string) => ({ target, data: collection.interface.encodeFunctionData("mintToWallet", [to]) });
  const holders = Array.from({ length: BATCH }, () => bench.wallet());
  const receivers = Array.from({ length: BATCH }, () => bench.wallet());
  for (const { address } of [...holders, ...receivers]) await blockCandidates(target, address, bench.networkHelpers);
  return {
    "mint ERC721 to a new wallet whose keys are taken, batch of 100, per item": {
      moneta: await bench.batch(BATCH, (_number, index) => mint(holders[index]!.address)),
    },
    "transfer ERC721 by authorization between wallets whose keys are taken, batch of 100, per item": {
      moneta: await bench.batch(BATCH, (number, index) =>
        transfer(bench, collection, { from: holders[index]!, to: receivers[index]!.address }, index + 1, number),
      ),
    },
  };
}

type Collection = Awaited<ReturnType<Bench["erc721"]>>["collection"];

function transfer(
  bench: Bench,
  collection: Collection,
  { from, to }: { from: BaseWallet; to: string },
  tokenId: number,
  number: bigint,
) {
  const target = collection.target as string;
  const [r, vs] = bench.signTransfer(from, target, to, BigInt(tokenId), 1n, number);
  const args = [from.address, to, tokenId, r, vs] as const;
  return { target, data: collection.interface.encodeFunctionData("transferWithAuthorization", [...args]) };
}

/** Gas of a call that is the first one in its transaction to touch the contract. */
async function coldCall(bench: Bench, target: string, name: "ownerOf" | "balanceOf", args: unknown[]): Promise<number> {
  const { interface: abi } = await bench.ethers.getContractAt("ERC721Collection", target);
  const probe = await bench.ethers.getContractFactory("GasProbe");
  const data = concat([
    probe.bytecode,
    probe.interface.encodeDeploy([[{ target, data: abi.encodeFunctionData(name as "ownerOf", args as [bigint]) }]]),
  ]);
  const answer = await bench.ethers.provider.call({ data });
  const [, used] = AbiCoder.defaultAbiCoder().decode(["tuple(uint256,uint256,uint256)", "uint256[]"], answer);
  return Number((used as bigint[])[0]);
}
