import { z } from "zod";

import { waitOfHeader } from "../../chain/limits.ts";
import type { Settings } from "../../config/settings.ts";
import type { VerifyCollections } from "../../config/variables.ts";
import type { Verified } from "../../domain/verification.ts";
import { createOutboundAgent, type OutboundAgent } from "../../outbound/agent.ts";
import { callJson, type JsonAnswer } from "../../outbound/call-json.ts";
import { pause } from "../../shared/pause.ts";
import {
  etherscanAnswer,
  FORM,
  MOST_BYTES,
  read,
  short,
  sourcifyError,
  sourcifyJob,
  sourcifyTicket,
  VerifierFailed,
} from "../deploy/verifiers.ts";

/*
 * Collections are minimal proxies (EIP-1167): no compiler made their code, so their sources cannot be sent. A verifier is asked
 * whether it knows them by similarity or as a proxy, or whether it has the sources of what they run.
 */

/** A collection's contract, as the chain has it. */
interface Clone {
  address: string;
  /** The contract whose code it runs. */
  implementation: string;
}

/** @param refused why it is not verified. */
export type Verdict = { verified: Exclude<Verified, "failed"> } | { refused: string };

export interface CloneVerifier {
  /** @throws VerifierFailed, VerifierUnavailable, and the reason of `abort` */
  verify(clone: Clone, abort: AbortSignal): Promise<Verdict>;
  close(): Promise<void>;
}

/** Limits of the exchange with a verifier. Times are in milliseconds. */
export interface CloneTimes {
  /** The whole of one HTTP exchange. */
  timeout: number;
  /** Between two questions whether the verifier has finished. */
  poll: number;
  /** From the first of these questions to the last. */
  patience: number;
}

const TIMES: CloneTimes = { timeout: 20_000, poll: 3_000, patience: 120_000 };

/** Thrown when a verifier cannot be asked now, whatever the collection is: a limit of calls, a wrong key, an unknown chain. */
export class VerifierUnavailable extends Error {
  override readonly name = "VerifierUnavailable";
  /** Milliseconds that it asks to wait; null: it does not say. */
  readonly retryAfter: number | null;

  constructor(message: string, retryAfter: number | null = null) {
    super(message);
    this.retryAfter = retryAfter;
  }
}

/** The verifier of the settings. @param chainId of the collections */
export function createCloneVerifier(
  which: Exclude<VerifyCollections, "off">,
  { sourcifyUrl, etherscanUrl, etherscanKey }: Settings["verification"],
  chainId: bigint,
  times: CloneTimes = TIMES,
): CloneVerifier {
  if (which === "sourcify") return sourcify(sourcifyUrl, chainId, times);
  if (etherscanKey === null) throw new Error("Etherscan needs a key");
  return etherscan(etherscanUrl, etherscanKey, chainId, times);
}

type Request = Pick<Parameters<typeof callJson>[1], "method" | "headers" | "body">;

/** HTTP calls to one verifier. */
class Calls {
  readonly title: string;
  readonly #times: CloneTimes;
  readonly #agent: OutboundAgent;

  constructor(title: string, url: string, times: CloneTimes) {
    this.title = title;
    this.#times = times;
    // The operator's own server may be in a private network. Nothing else is connected to.
    const host = new URL(url).hostname.replace(/^\[|\]$/g, "").toLowerCase();
    this.#agent = createOutboundAgent({ allowedHosts: new Set([host]), allowLoopback: false });
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }

  /** One exchange. No message contains the URL, which may contain a key. @throws VerifierFailed, VerifierUnavailable */
  async ask(url: string, request: Request, abort: AbortSignal): Promise<JsonAnswer> {
    const answer = await this.#exchange(url, request, abort);
    const { status, json } = answer;
    const words = `${this.title} answers with status ${status.toString()}`;
    const retryAfter = waitOfHeader(answer.retryAfter, Date.now());
    const isOfClone = status === 429 && sourcifyError.safeParse(json).data?.customCode === BEING_VERIFIED;
    if (!isOfClone && (status === 429 || (status === 503 && retryAfter !== null)))
      throw new VerifierUnavailable(`${words}: it limits the calls`, retryAfter);
    if (status >= 500) throw new VerifierFailed(words);
    if (json === undefined) throw new VerifierFailed(`${words}, and not as documented`);
    return answer;
  }

  async #exchange(url: string, request: Request, abort: AbortSignal): Promise<JsonAnswer> {
    const signal = AbortSignal.any([abort, AbortSignal.timeout(this.#times.timeout)]);
    try {
      return await callJson(url, { ...request, agent: this.#agent, maxBytes: MOST_BYTES, signal });
    } catch (error) {
      abort.throwIfAborted();
      const slow = error instanceof Error && error.name === "TimeoutError";
      const code =
        error instanceof Error && "code" in error && typeof error.code === "string" ? ` (${error.code})` : "";
      throw new VerifierFailed(`${this.title} ${slow ? "does not answer in time" : `cannot be reached${code}`}`);
    }
  }

  /** Asks until the verifier has finished. @param look null: it has not. */
  async finished(abort: AbortSignal, look: () => Promise<Verdict | null>): Promise<Verdict> {
    const { poll, patience } = this.#times;
    const end = performance.now() + patience;
    while (performance.now() < end) {
      const found = await look();
      if (found !== null) return found;
      await pause(poll, abort);
      abort.throwIfAborted();
    }
    return { refused: `${this.title} has not finished in time` };
  }
}

/** Codes of Sourcify's errors. */
const ALREADY_VERIFIED = "already_verified";
const BEING_VERIFIED = "duplicate_verification_request";
const UNSUPPORTED_CHAIN = "unsupported_chain";
/**
 * Sourcify has no sources for this code, as for every minimal proxy. The second code is that of servers without a search for
 * similar contracts.
 */
const NO_SOURCES = ["no_similar_match_found", "route_not_found"];

const sourcifyContract = z.object({ match: z.enum(["match", "exact_match"]).nullable() });
type Match = NonNullable<z.infer<typeof sourcifyContract>["match"]>;

/** API v2 of Sourcify. */
function sourcify(url: string, chainId: bigint, times: CloneTimes): CloneVerifier {
  const calls = new Calls("Sourcify", url, times);
  const chain = chainId.toString();
  /** Whether it has the sources of a contract. */
  const matchOf = async (address: string, abort: AbortSignal): Promise<Match | null> => {
    const { json } = await calls.ask(`${url}/v2/contract/${chain}/${address}`, {}, abort);
    return read("Sourcify", sourcifyContract, json).match;
  };
  const refused = async (
    { customCode, message }: z.infer<typeof sourcifyError>,
    clone: Clone,
    abort: AbortSignal,
  ): Promise<Verdict> => {
    if (customCode === UNSUPPORTED_CHAIN) throw new VerifierUnavailable(`Sourcify does not know chain ${chain}`);
    if (customCode === ALREADY_VERIFIED) {
      const match = await matchOf(clone.address, abort);
      if (match !== null) return verdictOf(match);
    }
    if (!NO_SOURCES.includes(customCode)) return { refused: `Sourcify: ${short(message)}` };
    if ((await matchOf(clone.implementation, abort)) !== null) return { verified: "implementation" };
    return { refused: `Sourcify does not have the sources of the implementation ${clone.implementation}` };
  };
  const verify = async (clone: Clone, abort: AbortSignal): Promise<Verdict> => {
    const request = { method: "POST", headers: { "content-type": "application/json" }, body: "{}" } as const;
    const { json: sent } = await calls.ask(`${url}/v2/verify/similarity/${chain}/${clone.address}`, request, abort);
    const error = sourcifyError.safeParse(sent);
    if (error.success) return refused(error.data, clone, abort);
    const { verificationId } = read("Sourcify", sourcifyTicket, sent);
    return calls.finished(abort, async () => {
      const { json } = await calls.ask(`${url}/v2/verify/${verificationId}`, {}, abort);
      const failed = sourcifyError.safeParse(json);
      if (failed.success) return refused(failed.data, clone, abort);
      const { isJobCompleted, contract, error: problem } = read("Sourcify", sourcifyJob, json);
      if (!isJobCompleted) return null;
      if (contract.match !== null) return verdictOf(contract.match);
      return refused(problem ?? { customCode: NO_SOURCES[0] ?? "", message: "" }, clone, abort);
    });
  };
  return { verify, close: () => calls.close() };
}

function verdictOf(match: Match): Verdict {
  return { verified: match === "match" ? "match" : "exact" };
}

/* Etherscan answers with sentences. These say nothing about the collection. */
const LIMITED = /rate limit|limit reached|daily limit/i;
const WRONG_SETTING = /(invalid|missing)[^.]*api ?key|(invalid|missing|unsupported)[^.]*chain ?id/i;
const PENDING = /^pending/i;

const etherscanTicket = z.string().regex(/^[\w-]{1,100}$/);

/** API V2 of Etherscan, which serves many chains. */
function etherscan(url: string, key: string, chainId: bigint, times: CloneTimes): CloneVerifier {
  const calls = new Calls("Etherscan", url, times);
  const ask = async (action: string, query: Record<string, string>, request: Request, abort: AbortSignal) => {
    const words = { chainid: chainId.toString(), module: "contract", action, ...query, apikey: key };
    const { json } = await calls.ask(`${url}?${new URLSearchParams(words).toString()}`, request, abort);
    const answer = read("Etherscan", etherscanAnswer, json);
    // The log and `doctor` show it.
    const result = answer.result.replaceAll(key, "…");
    if (answer.status !== "1" && (LIMITED.test(result) || WRONG_SETTING.test(result)))
      throw new VerifierUnavailable(`Etherscan: ${short(result)}`);
    return { status: answer.status, result };
  };
  const verify = async ({ address, implementation }: Clone, abort: AbortSignal): Promise<Verdict> => {
    const body = new URLSearchParams({ address, expectedimplementation: implementation }).toString();
    const sent = await ask("verifyproxycontract", {}, { method: "POST", headers: FORM, body }, abort);
    if (sent.status !== "1") return refusedBy(sent.result);
    const guid = read("Etherscan", etherscanTicket, sent.result);
    return calls.finished(abort, async () => {
      const { status, result } = await ask("checkproxyverification", { guid }, {}, abort);
      if (PENDING.test(result)) return null;
      // Also a refusal may have the status of a success. Only a success names the implementation that it has found.
      const found = status === "1" && result.toLowerCase().includes(implementation.toLowerCase());
      return found ? { verified: "implementation" } : refusedBy(result);
    });
  };
  return { verify, close: () => calls.close() };
}

function refusedBy(result: string): Verdict {
  return { refused: `Etherscan: ${short(result)}` };
}
