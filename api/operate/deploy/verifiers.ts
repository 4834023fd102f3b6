import { setTimeout as wait } from "node:timers/promises";

import { z } from "zod";

import { networkOf } from "../../config/networks.ts";
import type { Settings } from "../../config/settings.ts";
import type { Verified } from "../../domain/verification.ts";
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

/** A collection: a minimal proxy (EIP-1167). No compiler made its code, so it has no sources that could be sent. */
export interface Clone {
  address: string;
  /** The contract whose code it runs. */
  implementation: string;
}

/** What a verifier says of a contract, or of a clone, and why. */
export interface Verification<Answer = boolean> {
  verified: Answer;
  words: string;
}

/** A service that compiles sources and compares the result with the code on the chain. */
export interface Verifier {
  title: string;
  /** Publishes the sources of a contract. @throws VerifierFailed */
  verify(source: DeployedSource): Promise<Verification>;
  /** Asks whether it knows a clone by itself or as a proxy, or has the sources of what the clone runs. @throws VerifierFailed */
  verifyClone(clone: Clone): Promise<Verification<Verified>>;
}

/** Limits of the exchange with a verifier. Times are in milliseconds. */
export const PATIENCE = {
  /** Timeout of one whole HTTP exchange. */
  timeout: 60_000,
  /** Tries of one exchange. */
  tries: 5,
  /** Wait before the second try. Each further wait is twice as long. */
  firstWait: 2_000,
  /** Pause between two questions whether the verifier has finished. */
  poll: 3_000,
  /** It is asked at most so often. */
  polls: 200,
};
type Patience = typeof PATIENCE;
/** Most bytes of an answer. */
const MOST_BYTES = 1_048_576;
/** Most characters of a verifier's own words that are shown. */
const MOST_WORDS = 300;

/** Thrown when a verifier says nothing about a contract: a limit of calls, a wrong key, an unknown chain, no usable answer. */
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

const sourcifyMatch = z.object({ match: z.enum(["match", "exact_match"]).nullable() });
const sourcifyError = z.object({ customCode: z.string(), message: z.string() });
const sourcifyTicket = z.object({ verificationId: z.string().regex(/^[\w-]{1,100}$/) });
const sourcifyJob = z.object({
  isJobCompleted: z.boolean(),
  contract: sourcifyMatch,
  error: sourcifyError.nullish(),
});

/** API v2 of Sourcify. */
function sourcify(url: string, chainId: bigint, patience: Patience): Verifier {
  const title = "Sourcify";
  const chain = chainId.toString();
  /** @throws VerifierFailed when Sourcify does not know the chain */
  const call = async (path: string, request: Request = {}) => {
    const answer = await ask(title, `${url}/v2/${path}`, request, patience);
    const error = sourcifyError.safeParse(answer).data ?? null;
    if (error?.customCode === "unsupported_chain") throw new VerifierFailed(`Sourcify does not know chain ${chain}.`);
    return { answer, error };
  };
  const matchOf = async (address: string) =>
    read(title, sourcifyMatch, (await call(`contract/${chain}/${address}`)).answer).match;
  const refusal = ({ customCode, message }: z.infer<typeof sourcifyError>): Verification =>
    customCode === "already_verified" ? { verified: true, words: KNOWN } : { verified: false, words: short(message) };
  return {
    title,
    verify: async ({ address, identifier, compiler, input }) => {
      const document = { stdJsonInput: input, compilerVersion: compiler, contractIdentifier: identifier };
      const headers = { "content-type": "application/json" };
      const sent = await call(`verify/${chain}/${address}`, {
        method: "POST",
        headers,
        body: JSON.stringify(document),
      });
      if (sent.error !== null) return refusal(sent.error);
      const { verificationId } = read(title, sourcifyTicket, sent.answer);
      return finished(title, patience, async () => {
        const asked = await call(`verify/${verificationId}`);
        if (asked.error !== null) return refusal(asked.error);
        const { isJobCompleted, contract, error } = read(title, sourcifyJob, asked.answer);
        if (!isJobCompleted) return null;
        if (error != null) return refusal(error);
        if (contract.match !== null) return { verified: true, words: `verified (${contract.match.replace("_", " ")})` };
        return { verified: false, words: "the code on the chain is not that of the sources" };
      });
    },
    verifyClone: async ({ address, implementation }) => {
      const own = await matchOf(address);
      if (own !== null) return { verified: own === "match" ? "match" : "exact", words: "" };
      if ((await matchOf(implementation)) !== null) return { verified: "implementation", words: "" };
      return { verified: "failed", words: `it does not have the sources of the implementation ${implementation}` };
    },
  };
}

const KNOWN = "was verified before";

/** How Etherscan takes what does not fit into a URL. */
const FORM = { "content-type": "application/x-www-form-urlencoded" };
/* Etherscan answers with sentences. The first says nothing about a contract. */
const UNUSABLE = /rate limit|limit reached|daily limit|(invalid|missing|unsupported)[^.]*(api ?key|chain ?id)/i;
const ALREADY = /already verified/i;
const PENDING = /^pending/i;

const etherscanAnswer = z.object({ status: z.string(), result: z.string() });

/** API V2 of Etherscan, which serves many chains. */
function etherscan({ url, key }: { url: string; key: string }, chainId: bigint, patience: Patience): Verifier {
  const title = "Etherscan";
  const call = async (action: string, query: Record<string, string>, form?: Record<string, string>) => {
    const words = { chainid: chainId.toString(), module: "contract", action, ...query, apikey: key };
    const request: Request =
      form === undefined ? {} : { method: "POST", headers: FORM, body: new URLSearchParams(form).toString() };
    const answer = await ask(title, `${url}?${new URLSearchParams(words).toString()}`, request, patience);
    const { status, result } = read(title, etherscanAnswer, answer);
    const isDone = status === "1";
    const shown = result.replaceAll(key, "…");
    if (!isDone && UNUSABLE.test(result)) throw new VerifierFailed(`Etherscan: ${short(shown)}`);
    return { isDone, result: shown };
  };
  return {
    title,
    verify: async (source) => {
      const sent = await call(
        "verifysourcecode",
        {},
        {
          codeformat: "solidity-standard-json-input",
          sourceCode: JSON.stringify(source.input),
          contractaddress: source.address,
          contractname: source.identifier,
          compilerversion: `v${source.compiler}`,
          constructorArguments: source.constructorArguments,
        },
      );
      if (ALREADY.test(sent.result)) return { verified: true, words: KNOWN };
      if (!sent.isDone) return { verified: false, words: short(sent.result) };
      return finished(title, patience, async () => {
        const { isDone, result } = await call("checkverifystatus", { guid: sent.result });
        if (PENDING.test(result)) return null;
        if (ALREADY.test(result)) return { verified: true, words: KNOWN };
        return { verified: isDone, words: isDone ? "verified" : short(result) };
      });
    },
    verifyClone: async ({ address, implementation }) => {
      const sent = await call("verifyproxycontract", {}, { address, expectedimplementation: implementation });
      if (!sent.isDone) return { verified: "failed", words: short(sent.result) };
      return finished(title, patience, async () => {
        const { isDone, result } = await call("checkproxyverification", { guid: sent.result });
        if (PENDING.test(result)) return null;
        // Also a refusal may have the status of a success. Only a success names the implementation that it has found.
        if (isDone && result.toLowerCase().includes(implementation.toLowerCase()))
          return { verified: "implementation", words: "" };
        return { verified: "failed", words: short(result) };
      });
    },
  };
}

/** Asks until the verifier has finished. @param look null: it has not. */
async function finished<T>(title: string, { poll, polls }: Patience, look: () => Promise<T | null>): Promise<T> {
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

async function exchange(
  url: string,
  request: Request,
  timeout: number,
): Promise<{ json: unknown } | { fault: string; passing: boolean }> {
  try {
    const limits = { maxBytes: MOST_BYTES, signal: AbortSignal.timeout(timeout) };
    const { status, json } = await callJson(url, { ...request, ...limits });
    if (status === 429 || status >= 500) return { fault: `answers with status ${status.toString()}`, passing: true };
    if (json !== undefined) return { json };
    return { fault: `answers with status ${status.toString()}, and not as documented`, passing: false };
  } catch (error) {
    return { fault: `cannot be reached (${error instanceof Error ? error.name : "unknown"})`, passing: true };
  }
}

function read<T>(title: string, schema: z.ZodType<T>, answer: unknown): T {
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  throw new VerifierFailed(`${title} does not answer as documented.`);
}

/** A verifier's words on one line, without characters that a terminal obeys. */
function short(words: string): string {
  const line = words.replace(/[\p{Cc}\s]+/gu, " ").trim();
  return line.length > MOST_WORDS ? `${line.slice(0, MOST_WORDS).toWellFormed()}…` : line.toWellFormed();
}
