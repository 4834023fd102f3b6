import { setTimeout as wait } from "node:timers/promises";

import {
  concat,
  formatEther,
  getCreate2Address,
  getCreateAddress,
  keccak256,
  type Provider,
  type Signer,
  ZeroHash,
} from "ethers";

import { LOCAL_CHAIN_ID } from "../../api/chain/local-contracts.ts";
import { deploymentGas, initCode } from "./init-code.ts";
import {
  type Deployment,
  type Journal,
  readDeploymentFile,
  readJournal,
  type Step,
  STEPS,
  writeDeploymentFile,
  writeJournal,
} from "./journal.ts";
import type { Plan } from "./plan.ts";

/** The CREATE2 deployer, at the same address on most chains (github.com/Arachnid/deterministic-deployment-proxy). */
const CREATE2_DEPLOYER = "0x4e59b44847b379578588920cA78FbF26c0B4956C";
/** How long to wait for a transaction to be mined, in milliseconds. */
const MINED_WITHIN = 600_000;
/** Time between two checks for a transaction of an earlier run, in milliseconds. */
const POLL = 500;

/**
 * Deploys the contracts that are missing and writes their addresses to `deployments/<chain id>.json`.
 * @returns null after a dry run.
 */
export async function deployContracts(plan: Plan, deployer: Signer): Promise<Deployment | null> {
  const provider = providerOf(deployer);
  const known = await readDeploymentFile(plan);
  if (known !== null && plan.chainId === LOCAL_CHAIN_ID && (await provider.getCode(known.relay)) === "0x") {
    console.log(
      `${plan.folder}/${plan.chainId.toString()}.json belongs to a local chain that no longer exists. Deploying again.`,
    );
  } else if (known !== null) {
    for (const step of STEPS) await requireCode(provider, step, known[step]);
    console.log(`Already deployed: ${plan.folder}/${plan.chainId.toString()}.json`);
    return known;
  }
  const journal = (await readJournal(plan)) ?? {
    startBlock: await provider.getBlockNumber(),
    owner: plan.owner,
    hostedBase: plan.hostedBase,
    steps: {},
  };
  if (journal.owner !== plan.owner || journal.hostedBase !== plan.hostedBase) {
    throw new Error(
      `An unfinished deployment to this chain has the owner ${journal.owner} and the hosted base URI ` +
        `${journal.hostedBase}. Run again with the same --owner and --public-url to finish it, or delete ` +
        `${plan.folder}/${plan.chainId.toString()}.partial.json to start over.`,
    );
  }
  const factory = (await provider.getCode(CREATE2_DEPLOYER)) === "0x" ? null : CREATE2_DEPLOYER;
  if (!(await announce(plan, journal, deployer, factory)) || plan.dryRun) return null;
  const addresses: Partial<Record<Step, string>> = {};
  for (const step of STEPS) {
    const code = await initCode(step, plan, addresses.relay ?? "");
    addresses[step] = await place(plan, journal, step, code, deployer, factory);
  }
  const deployment = {
    relay: required(addresses.relay),
    factory: required(addresses.factory),
    delegate: required(addresses.delegate),
    deployedAt: await firstBlock(provider, journal.startBlock, required(addresses.relay)),
  };
  await writeDeploymentFile(plan, deployment);
  console.log(`Wrote ${plan.folder}/${plan.chainId.toString()}.json`);
  return deployment;
}

/** Prints the cost before anything is spent. @returns false if the deployer cannot pay. */
async function announce(plan: Plan, journal: Journal, deployer: Signer, factory: string | null): Promise<boolean> {
  const provider = providerOf(deployer);
  const { maxFeePerGas, gasPrice } = await provider.getFeeData();
  const price = maxFeePerGas ?? gasPrice ?? 0n;
  let total = 0n;
  // The later contracts take the relay's address as an argument. Any address gives the same gas estimate.
  for (const step of STEPS) {
    const gas = deploymentGas(await initCode(step, plan, CREATE2_DEPLOYER));
    total += gas;
    const begun = journal.steps[step] === undefined ? "" : " (started by an earlier run)";
    console.log(`  ${step.padEnd(9)} at most ${gas.toString().padStart(9)} gas, ${formatEther(gas * price)}${begun}`);
  }
  const balance = await provider.getBalance(await deployer.getAddress());
  console.log(
    `  total     at most ${total.toString().padStart(9)} gas, ${formatEther(total * price)} at the current gas price ` +
      `(a rollup adds its data fee); the deployer has ${formatEther(balance)}.`,
  );
  console.log(
    factory === null
      ? "This chain has no CREATE2 deployer: the addresses depend on the deployer's account and its nonces."
      : "With the same owner and public URL, the addresses are the same on every chain (CREATE2).",
  );
  if (balance < total * price && Object.keys(journal.steps).length === 0) {
    console.error(
      `The deployer lacks ${formatEther(total * price - balance)}. Send it funds, then run this again. Nothing was sent.`,
    );
    process.exitCode = 1;
    return false;
  }
  return true;
}

/** Deploys one contract, or finds the one that an earlier run deployed. @returns its address. */
async function place(
  plan: Plan,
  journal: Journal,
  step: Step,
  code: string,
  deployer: Signer,
  factory: string | null,
): Promise<string> {
  const provider = providerOf(deployer);
  const from = await deployer.getAddress();
  const fixed = factory === null ? null : getCreate2Address(factory, ZeroHash, keccak256(code));
  const begun = journal.steps[step];
  if (fixed !== null && (await provider.getCode(fixed)) !== "0x") return report(step, fixed, "is already deployed");
  if (begun !== undefined) {
    if (begun.deployer !== from)
      throw new Error(
        `The ${step} was started by ${begun.deployer}. Run again with that account's DEPLOYER_PRIVATE_KEY.`,
      );
    const pending = await provider.getTransactionCount(from, "pending");
    if (pending > begun.nonce) await nonceMined(provider, from, begun.nonce);
    if ((await provider.getCode(begun.address)) !== "0x")
      return report(step, begun.address, "was deployed by an earlier run");
    if (pending > begun.nonce)
      throw new Error(
        `The transaction with nonce ${begun.nonce.toString()} of ${from} is mined but did not deploy the ${step}: the ` +
          `account sent something else, or it reverted. Remove steps.${step} from ` +
          `${plan.folder}/${plan.chainId.toString()}.partial.json and run this again.`,
      );
  }
  const nonce = begun?.nonce ?? (await provider.getTransactionCount(from, "pending"));
  const address = fixed ?? getCreateAddress({ from, nonce });
  // Recorded before sending, so that the next run finds the transaction after a crash at any later point.
  journal.steps[step] = { deployer: from, nonce, address };
  await writeJournal(plan, journal);
  const transaction = factory === null ? { data: code } : { to: factory, data: concat([ZeroHash, code]) };
  const sent = await deployer.sendTransaction({ ...transaction, nonce });
  console.log(`  ${step.padEnd(9)} sent: ${sent.hash}`);
  await sent.wait(1, MINED_WITHIN);
  await requireCode(provider, step, address);
  return report(step, address, "deployed");
}

function report(step: Step, address: string, what: string): string {
  console.log(`  ${step.padEnd(9)} ${address} ${what}`);
  return address;
}

async function nonceMined(provider: Provider, account: string, nonce: number): Promise<void> {
  const deadline = Date.now() + MINED_WITHIN;
  while ((await provider.getTransactionCount(account)) <= nonce) {
    if (Date.now() > deadline)
      throw new Error(
        `The transaction with nonce ${nonce.toString()} of ${account} is still pending after 10 minutes. Run this again later.`,
      );
    await wait(POLL);
  }
}

async function requireCode(provider: Provider, step: Step, address: string): Promise<void> {
  if ((await provider.getCode(address)) === "0x")
    throw new Error(`There is no ${step} at ${address} on this chain. Check --network and the deployment file.`);
}

/** Finds the block of the relay's deployment, which may be older than this run, by a binary search in the node's past states. */
async function firstBlock(provider: Provider, startBlock: number, relay: string): Promise<number> {
  const isThere = async (block: number) => (await provider.getCode(relay, block)) !== "0x";
  let [low, high] = [0, startBlock];
  try {
    if (!(await isThere(high))) return startBlock;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (await isThere(middle)) high = middle;
      else low = middle + 1;
    }
    return low;
  } catch (error) {
    console.warn(
      "The node has no old states, so the block of the relay's deployment is unknown. The service will read the chain from block 0.",
      error,
    );
    return 0;
  }
}

function providerOf(signer: Signer): Provider {
  if (signer.provider === null) throw new Error("The deployer has no provider.");
  return signer.provider;
}

function required(address: string | undefined): string {
  if (address === undefined) throw new Error("A deployment step returned no address.");
  return address;
}
