import type { HardhatEthersSigner } from "@nomicfoundation/hardhat-ethers/types";
import { expect } from "chai";
import { ZeroAddress, type BaseContract, type TransactionReceipt } from "ethers";
import fc from "fast-check";

import {
  createErc1155,
  createErc721,
  deploySystemWith,
  describeStorages,
  ethers,
  fixtures,
  networkHelpers,
  type Storage,
} from "./support/deploy.ts";
import { shortOrLong } from "./support/runs.ts";

/** One call of a random sequence: caller, function and arguments. Accounts and ids are indices. */
interface Step {
  readonly fragment: string;
  readonly caller: number;
  readonly args: readonly unknown[];
}

const ACCOUNTS = 4;
const IDS = 6;
/** Random sequences of calls, for each of the two standards. */
const SEQUENCES = shortOrLong(6, 25);
/** Enough for each call here: its outcome is known before it is sent. */
const GAS = 2_000_000n;

async function deployPairs(storage: Storage) {
  const system = await deploySystemWith(storage);
  const { admin, owner, alice, bob, carol } = system;
  const receiver = await ethers.deployContract("ProgrammableReceiver");
  const rejecting = await ethers.deployContract("RejectingReceiver");
  const ours721 = await createErc721(system, { maxSupply: 5n, owner: admin.address });
  const ours1155 = await createErc1155(system, { owner: admin.address });
  await ours721.connect(admin).setMinter(admin.address, true);
  await ours1155.connect(admin).setMinter(admin.address, true);
  const plain721 = await ethers.deployContract("YardstickERC721", ["N", "S", "b", "c", 5n, ZeroAddress, 0n]);
  const plain1155 = await ethers.deployContract("YardstickERC1155", ["N", "S", "b", "c", ZeroAddress, 0n]);
  const callers = [owner, alice, bob, carol];
  const receivers = [...callers.map((caller) => caller.address), ZeroAddress, receiver.target, rejecting.target];
  return { ...system, ours721, plain721, ours1155, plain1155, callers, receivers };
}

const FIXTURES = fixtures(deployPairs);

const account = fc.nat({ max: ACCOUNTS - 1 });
const receiver = fc.nat({ max: ACCOUNTS + 2 });
const id = fc.nat({ max: IDS });
const amount = fc.nat({ max: 12 });

function step(fragment: string, ...args: fc.Arbitrary<unknown>[]): fc.Arbitrary<Step> {
  return fc.record({ fragment: fc.constant(fragment), caller: account, args: fc.tuple(...args) });
}

const ERC721_STEPS = fc.oneof(
  { weight: 3, arbitrary: step("mint", receiver) },
  { weight: 2, arbitrary: step("transferFrom", account, receiver, id) },
  { weight: 2, arbitrary: step("safeTransferFrom(address,address,uint256)", account, receiver, id) },
  { weight: 2, arbitrary: step("approve", receiver, id) },
  { weight: 1, arbitrary: step("setApprovalForAll", receiver, fc.boolean()) },
  { weight: 1, arbitrary: step("burn", id) },
);

const ERC1155_STEPS = fc.oneof(
  { weight: 3, arbitrary: step("mint", receiver, id, amount) },
  { weight: 3, arbitrary: step("safeTransferFrom", account, receiver, id, amount, fc.constant("0x")) },
  {
    weight: 2,
    arbitrary: fc
      .array(fc.tuple(id, amount), { maxLength: 3 })
      .chain((pairs) =>
        step(
          "safeBatchTransferFrom",
          account,
          receiver,
          fc.constant(pairs.map(([entry]) => entry)),
          fc.constant(pairs.map(([, entry]) => entry)),
          fc.constant("0x"),
        ),
      ),
  },
  { weight: 1, arbitrary: step("setApprovalForAll", receiver, fc.boolean()) },
  { weight: 2, arbitrary: step("burn", account, id, amount) },
  { weight: 1, arbitrary: step("burnBatch", account, fc.constant([0, 1, 0]), fc.constant([1, 2, 3])) },
);

describeStorages("Moneta's collections and reference collections from OpenZeppelin's parts", (storage) => {
  function setUp() {
    return networkHelpers.loadFixture(FIXTURES[storage]);
  }

  it("have the same state, events and errors after any sequence of ERC721 calls", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(ERC721_STEPS, { minLength: 15, maxLength: 40 }), async (steps) => {
        const { ours721, plain721, admin, callers, receivers } = await setUp();
        for (const { fragment, caller, args } of steps) {
          const signer = fragment === "mint" ? admin : callers[caller]!;
          const values = resolve(ours721, fragment, args, receivers);
          const [ours, plain] = await both(signer, [ours721, plain721], fragment, values);
          // The only error for which OpenZeppelin has no name.
          const capped = ours.startsWith(ours721.interface.getError("ERC721ExceededMaxSupply")!.selector);
          expect(capped ? plain721.interface.getError("MaxSupplyExceeded")!.selector : ours).to.equal(plain);
        }
        for (let token = 0; token <= IDS; token++) {
          const read = async (contract: typeof ours721 | typeof plain721) => [
            await outcome(() => contract.ownerOf(token)),
            await outcome(() => contract.getApproved(token)),
          ];
          expect(await read(ours721)).to.deep.equal(await read(plain721));
        }
        for (const holder of receivers.filter((address) => address !== ZeroAddress)) {
          expect(await ours721.balanceOf(holder)).to.equal(await plain721.balanceOf(holder));
          for (const operator of receivers) {
            const approved = await plain721.isApprovedForAll(holder, operator);
            expect(await ours721.isApprovedForAll(holder, operator)).to.equal(approved);
          }
        }
        expect(await ours721.totalMinted()).to.equal(await plain721.totalMinted());
      }),
      { numRuns: SEQUENCES },
    );
  }).timeout(120_000);

  // Their storage is always the same.
  if (storage !== "standard") return;

  it("have the same state, events and errors after any sequence of ERC1155 calls", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(ERC1155_STEPS, { minLength: 15, maxLength: 40 }), async (steps) => {
        const { ours1155, plain1155, admin, callers, receivers } = await setUp();
        const created = new Set<bigint>();
        for (const { fragment, caller, args } of steps) {
          const values = resolve(ours1155, fragment, args, receivers);
          if (fragment === "mint") {
            // Moneta creates an id before it mints more copies; OpenZeppelin makes no difference.
            const token = BigInt(values[1] as number);
            const ours = created.has(token)
              ? await perform(admin, ours1155, "mint", values)
              : await perform(admin, ours1155, "create", [...values, ""]);
            expect(ours).to.equal(await perform(admin, plain1155, "mint", values));
            if (await ours1155.exists(token)) created.add(token);
          } else {
            const [ours, plain] = await both(callers[caller]!, [ours1155, plain1155], fragment, values);
            expect(ours).to.equal(plain);
          }
        }
        for (let token = 0; token <= IDS; token++) {
          expect(await ours1155.totalSupply(token)).to.equal(await plain1155["totalSupply(uint256)"](token));
          for (const holder of receivers) {
            expect(await ours1155.balanceOf(holder, token)).to.equal(await plain1155.balanceOf(holder, token));
          }
        }
      }),
      { numRuns: SEQUENCES },
    );
  }).timeout(120_000);
});

/** Replaces account indices by addresses. */
function resolve(contract: BaseContract, fragment: string, args: readonly unknown[], receivers: unknown[]): unknown[] {
  const { inputs } = contract.interface.getFunction(fragment)!;
  return args.map((value, index) => (inputs[index]!.type === "address" ? receivers[value as number] : value));
}

async function both(
  signer: HardhatEthersSigner,
  pair: [BaseContract, BaseContract],
  fragment: string,
  args: unknown[],
) {
  return [await perform(signer, pair[0], fragment, args), await perform(signer, pair[1], fragment, args)] as const;
}

/** The effect of a call, without the contract's address: its events, or its error. */
async function perform(signer: HardhatEthersSigner, contract: BaseContract, fragment: string, args: unknown[]) {
  const data = contract.interface.encodeFunctionData(fragment, args);
  const to = await contract.getAddress();
  return outcome(async () => {
    await signer.call({ to, data });
    const receipt: TransactionReceipt | null = await (await signer.sendTransaction({ to, data, gasLimit: GAS })).wait();
    return JSON.stringify(receipt!.logs.map((log) => [...log.topics, log.data]));
  });
}

async function outcome(run: () => Promise<unknown>): Promise<string> {
  try {
    return String(await run());
  } catch (error) {
    const { data } = error as { data?: unknown };
    if (typeof data !== "string") throw error;
    return data;
  }
}
