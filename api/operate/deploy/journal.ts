import { mkdir, readFile, rm } from "node:fs/promises";
import { dirname } from "node:path";

import { z } from "zod";

import { deploymentFile } from "../../chain/contracts.ts";
import { STEPS } from "../../chain/deployment.ts";
import { replaceFile } from "../../shared/write-new-file.ts";
import { OperatorError } from "../operator-error.ts";
import type { Plan } from "./plan.ts";

const journal = z.object({
  /** The latest block when the deployment started. No contract of it is older. */
  startBlock: z.number().int().nonnegative(),
  owner: z.string(),
  hostedBase: z.string(),
  /** Each step is recorded before its transaction is sent, so that a run after a crash finds the transaction. */
  steps: z.partialRecord(z.enum(STEPS), z.object({ deployer: z.string(), nonce: z.number(), address: z.string() })),
});

/** The progress of an unfinished deployment. */
export type Journal = z.infer<typeof journal>;

const complete = z.object({
  relay: z.string(),
  erc721Implementation: z.string(),
  erc1155Implementation: z.string(),
  factory: z.string(),
  delegate: z.string(),
  deployedAt: z.number().int().nonnegative(),
});

/** The content of `deployments/<chain id>.json`, which the service reads. */
export type Deployment = z.infer<typeof complete>;

type Place = Pick<Plan, "folder" | "chainId">;

export async function readDeploymentFile({ folder, chainId }: Place): Promise<Deployment | null> {
  const text = await readIfThere(deploymentFile(folder, chainId));
  if (text === null) return null;
  return parse(deploymentFile(folder, chainId), text, complete);
}

export async function writeDeploymentFile(place: Place, deployment: Deployment): Promise<void> {
  await writeJson(deploymentFile(place.folder, place.chainId), deployment);
  await rm(journalFile(place), { force: true });
}

export async function readJournal(place: Place): Promise<Journal | null> {
  const text = await readIfThere(journalFile(place));
  return text === null ? null : parse(journalFile(place), text, journal);
}

export async function writeJournal(place: Place, content: Journal): Promise<void> {
  await writeJson(journalFile(place), content);
}

function journalFile({ folder, chainId }: Place): string {
  return deploymentFile(folder, chainId).replace(/\.json$/, ".partial.json");
}

function parse<T>(file: string, text: string, schema: z.ZodType<T>): T {
  const parsed = schema.safeParse(jsonOf(text));
  if (parsed.success) return parsed.data;
  throw new OperatorError(`${file} is not a deployment file: ${z.prettifyError(parsed.error)}`);
}

/** Undefined when the text is not JSON. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The schema refuses it, in a sentence that names the file.
    return undefined;
  }
}

async function readIfThere(file: string): Promise<string | null> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

async function writeJson(file: string, content: unknown): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await replaceFile(file, `${JSON.stringify(content, null, 2)}\n`, 0o644);
}
