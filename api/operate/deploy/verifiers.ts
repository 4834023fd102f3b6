import { setTimeout as wait } from "node:timers/promises";

import { z } from "zod";

import { networkOf } from "../../config/networks.ts";
import type { Settings } from "../../config/settings.ts";
import { callJson } from "../../outbound/call-json.ts";

/** A contract on the chain, and what it was compiled from. */
export interface DeployedSource {
  address: string;
  /** As the compiler names it: its file, and its name in it. */
  identifier: string;
  /** Encoded, in hex without 0x. */
  constructorArguments: string;
  /** Long form of the compiler's version. */
  compiler: string;
  /** The compiler's standard JSON input. */
  input: object;
}

/** What a verifier says of a contract. */
export interface Verification {
  verified: boolean;
  words: string;
}

/** A service that compiles sources and compares the result with the code on the chain. */
export interface Verifier {
  title: string;
  verify(source: DeployedSource): Promise<Verification>;
}

/** Limits of the exchange with a verifier. Times are in milliseconds. */
interface Patience {
  /** Timeout of one whole HTTP exchange. */
  timeout: number;
  /** Tries of one exchange. */
  tries: number;
  /** Wait before the second try. Each further wait is twice as long. */
  firstWait: number;
  /** Pause between two polls whether the verifier has finished. */
  poll: number;
  /** Most polls. */
  polls: number;
}

export const PATIENCE: Patience = { timeout: 60_000, tries: 5, firstWait: 2_000, poll: 3_000, polls: 200 };
/** Most bytes of an answer. */
export const MOST_BYTES = 1_048_576;
/** Most characters of a verifier's own words that are shown. */
const MOST_WORDS = 300;

/** Thrown when a verifier cannot be reached or answers something else than it documents. */
export class VerifierFailed extends Error {
  override readonly name = "VerifierFailed";
}

/** The verifiers of a chain, by the table of networks. A chain without a name is tried at all of them. */
export function verifiersOf(
  chainId: bigint,
  settings: Settings["verification"],
  patience: Patience = PATIENCE,
): { verifiers: Verifier[]; missing: string[] } {
  const known: readonly string[] = networkOf(chainId)?.verifiers ?? ["sourcify", "etherscan"];
  const { sourcifyUrl, etherscanUrl, etherscanKey } = settings;
  const verifiers: Verifier[] = [];
  if (known.includes("sourcify")) verifiers.push(sourcify(sourcifyUrl, chainId, patience));
  const wantsKey = known.includes("etherscan") && etherscanKey === null;
  if (known.includes("etherscan") && etherscanKey !== null)
    verifiers.push(etherscan({ url: etherscanUrl, key: etherscanKey }, chainId, patience));
  return { verifiers, missing: wantsKey ? ["Etherscan is not asked: set ETHERSCAN_API_KEY."] : [] };
}

export const sourcifyError = z.object({ customCode: z.string(), message: z.string() });
export const sourcifyTicket = z.object({ verificationId: z.string().regex(/^[\w-]{1,100}$/) });
export const sourcifyJob = z.object({
  isJobCompleted: z.boolean(),
  contract: z.object({ match: z.enum(["match", "exact_match"]).nullable() }),
  error: sourcifyError.nullish(),
});

/** API v2 of Sourcify. */
function sourcify(url: string, chainId: bigint, patience: Patience): Verifier {
  const refused = ({ customCode, message }: z.infer<typeof sourcifyError>): Verification =>
    customCode === "already_verified"
      ? { verified: true, words: "was verified before" }
      : { verified: false, words: short(message) };
  const verify = async (source: DeployedSource): Promise<Verification> => {
    const { address, identifier, compiler, input } = source;
    const body = JSON.stringify({ stdJsonInput: input, compilerVersion: compiler, contractIdentifier: identifier });
    const headers = { "content-type": "application/json" };
    const sent = await ask(
      "Sourcify",
      `${url}/v2/verify/${chainId.toString()}/${address}`,
      { method: "POST", headers, body },
      patience,
    );
    const error = sourcifyError.safeParse(sent);
    if (error.success) return refused(error.data);
    const { verificationId } = read("Sourcify", sourcifyTicket, sent);
    return finished("Sourcify", patience, async () => {
      const answer = await ask("Sourcify", `${url}/v2/verify/${verificationId}`, {}, patience);
      const failed = sourcifyError.safeParse(answer);
      if (failed.success) return refused(failed.data);
      const { isJobCompleted, contract, error: problem } = read("Sourcify", sourcifyJob, answer);
      if (!isJobCompleted) return null;
      if (problem != null) return refused(problem);
      if (contract.match === null)
        return { verified: false, words: "the code on the chain is not that of the sources" };
      return { verified: true, words: contract.match === "match" ? "verified (match)" : "verified (exact match)" };
    });
  };
  return { title: "Sourcify", verify };
}

/** How Etherscan takes what does not fit into a URL. */
export const FORM = { "content-type": "application/x-www-form-urlencoded" };

export const etherscanAnswer = z.object({ status: z.string(), result: z.string() });

/** API V2 of Etherscan, which serves many chains. */
function etherscan({ url, key }: { url: string; key: string }, chainId: bigint, patience: Patience): Verifier {
  const call = async (action: string, query: Record<string, string>, request: Request) => {
    const words = new URLSearchParams({
      chainid: chainId.toString(),
      module: "contract",
      action,
      ...query,
      apikey: key,
    });
    return read("Etherscan", etherscanAnswer, await ask("Etherscan", `${url}?${words.toString()}`, request, patience));
  };
  const verify = async (source: DeployedSource): Promise<Verification> => {
    const body = new URLSearchParams({
      codeformat: "solidity-standard-json-input",
      sourceCode: JSON.stringify(source.input),
      contractaddress: source.address,
      contractname: source.identifier,
      compilerversion: `v${source.compiler}`,
      constructorArguments: source.constructorArguments,
    });
    const sent = await call("verifysourcecode", {}, { method: "POST", headers: FORM, body: body.toString() });
    if (isKnown(sent.result)) return { verified: true, words: "was verified before" };
    if (sent.status !== "1") return { verified: false, words: short(sent.result) };
    return finished("Etherscan", patience, async () => {
      const { status, result } = await call("checkverifystatus", { guid: sent.result }, {});
      if (/^pending/i.test(result)) return null;
      if (isKnown(result)) return { verified: true, words: "was verified before" };
      return { verified: status === "1", words: status === "1" ? "verified" : short(result) };
    });
  };
  return { title: "Etherscan", verify };
}

function isKnown(result: string): boolean {
  return /already verified/i.test(result);
}

/** Asks until the verifier has finished. @param look null: it has not. */
async function finished(
  title: string,
  { poll, polls }: Patience,
  look: () => Promise<Verification | null>,
): Promise<Verification> {
  for (let asked = 0; asked < polls; asked++) {
    const found = await look();
    if (found !== null) return found;
    await wait(poll);
  }
  throw new VerifierFailed(`${title} has not finished in time. Run the same command again later.`);
}

/** One exchange, again after a fault that may pass. The URL is never part of a message: it may contain a key. */
async function ask(title: string, url: string, request: Request, patience: Patience): Promise<unknown> {
  for (let tries = 1; ; tries++) {
    const answer = await exchange(url, request, patience.timeout);
    if ("json" in answer) return answer.json;
    if (tries >= patience.tries || !answer.passing)
      throw new VerifierFailed(`${title} ${answer.fault}. Run the same command again later.`);
    await wait(patience.firstWait * 2 ** (tries - 1));
  }
}

type Request = Pick<Parameters<typeof callJson>[1], "method" | "headers" | "body">;
type Exchange = { json: unknown } | { fault: string; passing: boolean };

async function exchange(url: string, request: Request, timeout: number): Promise<Exchange> {
  try {
    const { status, json } = await callJson(url, {
      ...request,
      maxBytes: MOST_BYTES,
      signal: AbortSignal.timeout(timeout),
    });
    if (status === 429 || status >= 500) return { fault: `answers with status ${status.toString()}`, passing: true };
    if (json !== undefined) return { json };
    return { fault: `answers with status ${status.toString()}, and not as documented`, passing: false };
  } catch (error) {
    return { fault: `cannot be reached (${error instanceof Error ? error.name : "unknown"})`, passing: true };
  }
}

export function read<T>(title: string, schema: z.ZodType<T>, answer: unknown): T {
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  throw new VerifierFailed(`${title} does not answer as documented.`);
}

/** A verifier's words on one line, without characters that a terminal obeys. */
export function short(words: string): string {
  const line = words.replace(/[\p{Cc}\s]+/gu, " ").trim();
  return line.length > MOST_WORDS ? `${line.slice(0, MOST_WORDS).toWellFormed()}…` : line.toWellFormed();
}
