import { mkdir, readFile, rm } from "node:fs/promises";
import { dirname } from "node:path";

import { z } from "zod";

import { deployment, type Deployment, deploymentFile } from "../../chain/contracts.ts";
import {
  create2Address,
  deploymentTransaction,
  initCode,
  type Placed,
  type Step,
  STEPS,
} from "../../chain/deployment.ts";
import { type CollectionStorage, DEFAULT_STORAGE, STORAGES } from "../../domain/command.ts";
import { parseJson } from "../../shared/text.ts";
import { replaceFile } from "../../shared/write-new-file.ts";
import { OperatorError } from "../operator-error.ts";
import type { Plan } from "./plan.ts";

const journal = z.object({
  /** The latest block when the deployment started. No contract of it is older. */
  startBlock: z.number().int().nonnegative(),
  owner: z.string(),
  hostedBase: z.string(),
  /** Of the ERC721 collections of the factory that is deployed. */
  storage: z.enum(STORAGES),
  /** Contracts of an earlier deployment, to which a factory is added. */
  placed: z.partialRecord(z.enum(STEPS), z.string()).default({}),
  /** Each step is recorded before its transaction is sent, so that a run after a crash finds the transaction. */
  steps: z.partialRecord(z.enum(STEPS), z.object({ deployer: z.string(), nonce: z.number(), address: z.string() })),
});

/** The progress of an unfinished deployment. */
export type Journal = z.infer<typeof journal>;

type Place = Pick<Plan, "folder" | "chainId">;

export function readDeploymentFile({ folder, chainId }: Place): Promise<Deployment | null> {
  return readJson(deploymentFile(folder, chainId), deployment);
}

export async function writeDeploymentFile(place: Place, content: Deployment): Promise<void> {
  await writeJson(deploymentFile(place.folder, place.chainId), content);
  await rm(journalFile(place), { force: true });
}

export function writeJournal(place: Place, content: Journal): Promise<void> {
  return writeJson(journalFile(place), content);
}

/**
 * What is left to deploy: all contracts, or a factory beside those that are `known`. Its storage is the one that the plan
 * names. A plan that names none keeps what was chosen before.
 * @returns null when the chain has everything.
 * @throws OperatorError when an unfinished deployment is for another plan.
 */
export async function planWork(plan: Plan, known: Deployment | null, startBlock: number): Promise<Journal | null> {
  const begun = await readJson(journalFile(plan), journal);
  // The factory of 0.2.0 makes collections without `burnWithAuthorization`, so it makes no new ones.
  const isThere = (storage: string) =>
    known?.factories.some((factory) => factory.storage === storage && factory.signedBurns) ?? false;
  // After a crash between the two last steps, the file is complete and the journal is left over.
  const unfinished = begun === null || isThere(begun.storage) ? null : begun;
  const storage = plan.storage ?? unfinished?.storage ?? chosenStorage(known);
  if (isThere(storage)) return null;
  const { owner, hostedBase } = plan;
  if (unfinished === null) return { startBlock, owner, hostedBase, storage, placed: keptOf(known), steps: {} };
  if (unfinished.placed.relay !== known?.relay)
    throw new OperatorError(
      `${journalFile(plan)} is of a deployment ${unfinished.placed.relay === undefined ? "with a relay of its own" : `beside the relay ${unfinished.placed.relay}`}, and ` +
        `${known === null ? "there is no deployment file" : `the deployment file has the relay ${known.relay}`}. Delete ${journalFile(plan)} to give that deployment up, or put the right file beside it.`,
    );
  const differs = known === null && (unfinished.owner !== owner || unfinished.hostedBase !== hostedBase);
  if (!differs && unfinished.storage === storage) return unfinished;
  throw new OperatorError(
    `An unfinished deployment to this chain has the owner ${unfinished.owner}, the hosted base URI ` +
      `${unfinished.hostedBase} and the storage ${unfinished.storage}. Run again with the same --owner, --public-url and ` +
      `--storage to finish it, or delete ${journalFile(plan)} to start over.`,
  );
}

/** A contract that is to be deployed, and the transaction that does it. */
export interface PlannedStep {
  step: Step;
  /** Undefined: the chain has no CREATE2 deployer, and no run has sent the transaction. */
  address: string | undefined;
  to: string | null;
  data: string;
}

/**
 * The contracts to deploy, in order.
 * @param placed gets each address that is known. An address that is found out must be put there before the next step.
 * @param codeFor changes the creation code, for an estimate.
 */
export function* stepsOf(
  journal: Journal,
  create2Deployer: string | null,
  placed: Placed,
  codeFor: (step: Step, code: string) => string = (_, code) => code,
): Generator<PlannedStep> {
  for (const step of STEPS) {
    if (journal.placed[step] !== undefined) continue;
    const code = initCode(step, journal, placed);
    const address = create2Deployer === null ? journal.steps[step]?.address : create2Address(create2Deployer, code);
    if (address !== undefined) placed[step] = address;
    const { to = null, data } = deploymentTransaction(create2Deployer, codeFor(step, code));
    yield { step, address, to, data };
  }
}

/** The storage that was chosen for new collections. Version 0.2.0 offered no choice. */
export function chosenStorage(known: Deployment | null): CollectionStorage {
  return known === null || known.ofOneFactory === true ? DEFAULT_STORAGE : known.factories[0].storage;
}

function keptOf(known: Deployment | null): Placed {
  if (known === null) return {};
  const { relay, delegate, factories } = known;
  const erc1155Implementation = factories.find(({ signedBurns }) => signedBurns)?.erc1155Implementation;
  return { relay, delegate, ...(erc1155Implementation === undefined ? {} : { erc1155Implementation }) };
}

function journalFile({ folder, chainId }: Place): string {
  return deploymentFile(folder, chainId).replace(/\.json$/, ".partial.json");
}

/** @returns null when there is no such file. */
async function readJson<T>(file: string, schema: z.ZodType<T>): Promise<T | null> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    // A file that cannot be read may name contracts that are on the chain: another deployment must not begin.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  });
  if (text === null) return null;
  const parsed = schema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  throw new OperatorError(`${file} is not a deployment file: ${z.prettifyError(parsed.error)}`);
}

async function writeJson(file: string, content: unknown): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await replaceFile(file, `${JSON.stringify(content, null, 2)}\n`, 0o644);
}
