import { openAsBlob } from "node:fs";

import { type Client, createClient, type Shape } from "../../../client/client.ts";
import { ApiRefusal, ConnectionFailed, refusalOf } from "../../../client/errors.ts";
import { pause } from "../../../client/pause.ts";
import { growingWait, isBusy, retryAfterOf } from "../../../client/retries.ts";
import { OperatorError } from "../../operate/operator-error.ts";
import type { Result, SentBatch } from "./journal.ts";
import { sha256Of } from "./media-files.ts";
import type { MediaFile } from "./folder.ts";

/** After so many milliseconds without a useful answer the drop stops. It can be continued. */
const PATIENCE = 600_000;
/** Timeout for an answer, in milliseconds. The service waits 300,000 for a file, and ends first. */
const TIMEOUT = 330_000;

/** Errors of a connection to a wrong address: no service listens there, or its name is unknown. */
const NOBODY_THERE: readonly (string | null)[] = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN"];

/** Answers to a batch before the service looks at its items. Proxies give these, too. */
const REFUSES_BEFORE_KEY = [408, 413];
/** The service finds the answer to an earlier call with the same key before it gives one of these. */
const REFUSES_AFTER_KEY = [400, 422];

/** The answer to a batch, or why nothing of it was taken. */
type MintAnswer = { results: Result[]; retryAfter: number | null } | { refused: string };

interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

interface Connection {
  url: string;
  token: string;
  signal: AbortSignal;
  /** Gets a sentence when the drop waits. */
  remark: (text: string) => void;
}

/** The service, over its public API. Waits as long as a busy service asks. @throws OperatorError when it refuses. */
export class DropService {
  readonly #client: Client;
  readonly #connection: Connection;
  /** Whether the service has answered a call. Before, a failed connection means that its URL is wrong. */
  #answered = false;

  constructor(connection: Connection) {
    const { url, token, signal } = connection;
    this.#connection = connection;
    this.#client = createClient({ baseUrl: url, token, signal, maxRetries: 0, timeout: TIMEOUT });
  }

  /** @returns null when the app has no such collection. */
  async collection(address: string): Promise<Shape<"Collection"> | null> {
    let cursor: string | null = null;
    do {
      const query: { cursor?: string } = cursor === null ? {} : { cursor };
      const page: Shape<"CollectionsPage"> = await this.#call("list the collections", () =>
        this.#client.GET("/v1/collections", { params: { query } }),
      );
      const found = page.collections.find((one) => one.address.toLowerCase() === address.toLowerCase());
      if (found !== undefined) return found;
      cursor = page.next;
    } while (cursor !== null);
    return null;
  }

  /** The wallet's address, or null when the user has none. */
  async walletOf(user: string): Promise<string | null> {
    const path = { user_identifier: user };
    try {
      const get = () => this.#client.GET("/v1/accounts/user/{user_identifier}", { params: { path } });
      return (await this.#call("look for the wallet", get)).address;
    } catch (error) {
      if (refusalIn(error)?.status === 404) return null;
      throw error;
    }
  }

  /** Finds or creates the user's wallet. */
  async createWallet(user: string): Promise<string> {
    const found = await this.walletOf(user);
    if (found !== null) return found;
    const headers = { "Idempotency-Key": `drop-wallet-${crypto.randomUUID()}` };
    const create = () => this.#client.POST("/v1/accounts", { body: { user_identifier: user }, headers });
    return (await this.#call("create the wallet", create)).address;
  }

  /** Stores a file. Repeating it changes nothing. @returns its URI. */
  async upload(path: string, { file, type, sha256 }: MediaFile): Promise<string> {
    const { url, token, signal } = this.#connection;
    const blob = await openAsBlob(path);
    if ((await sha256Of(blob)) !== sha256) {
      throw new OperatorError(`${file} has changed since this run began. Run the command again.`);
    }
    const { uri } = await this.#call(`upload ${file}`, async () => {
      const response = await fetch(`${url.replace(/\/+$/, "")}/v1/media`, {
        method: "POST",
        headers: { Authorization: `Bearer ${token}`, "Content-Type": type },
        body: blob,
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT)]),
      }).catch((error: unknown) => {
        throw new ConnectionFailed(1, error);
      });
      const body: unknown = await response.json().catch(() => null);
      return response.ok ? { data: body as { uri: string }, response } : { error: body, response };
    });
    return uri;
  }

  /**
   * Sends a batch. Repeated with the same key and body, it gets the same answer.
   * @param sentBefore whether it was sent before and its answer was lost.
   */
  async mint({ key, body }: SentBatch, sentBefore: boolean): Promise<MintAnswer> {
    const items = body.items as unknown as Shape<"Mint">[];
    let [lost, lostBefore] = [sentBefore, sentBefore];
    let retryAfter: number | null = null;
    try {
      const { results } = await this.#call("mint", async () => {
        lostBefore = lost;
        lost = true;
        const headers = { "Idempotency-Key": key };
        const call = await this.#client.POST("/v1/nfts/batch", { body: { items }, headers });
        if (call.response.status === 429) lost = lostBefore;
        retryAfter = retryAfterOf(call.response);
        return call;
      });
      if (results.length !== items.length) throw new Error("a batch has one result for each item");
      return { results, retryAfter };
    } catch (error) {
      return { refused: reasonOf(error, lostBefore) };
    }
  }

  /** @returns null when the service does not know the request. */
  async request(id: string): Promise<Shape<"Request"> | null> {
    const path = { request_id: id };
    try {
      const get = () => this.#client.GET("/v1/requests/{request_id}", { params: { path } });
      return await this.#call("read a request", get);
    } catch (error) {
      const refusal = refusalIn(error);
      if (refusal?.status === 404 && refusal.body !== null) return null;
      throw error;
    }
  }

  /** A page of mints, newest first. */
  async mints(cursor: string | null): Promise<Shape<"RequestsPage">> {
    const query = { type: "mint" as const, ...(cursor !== null && { cursor }) };
    return this.#call("list the requests", () => this.#client.GET("/v1/requests", { params: { query } }));
  }

  async wait(milliseconds: number): Promise<void> {
    await pause(milliseconds, this.#connection.signal);
  }

  async #call<T>(what: string, send: () => Promise<Answer<T>>): Promise<T> {
    const since = performance.now();
    for (let tries = 0; ; tries++) {
      let [wait, reason] = [growingWait(tries), ""];
      try {
        const { data, error, response } = await send();
        this.#answered = true;
        if (data !== undefined) return data;
        const refusal = refusalOf(response, error);
        if (!isBusy(response)) {
          throw new OperatorError(`Could not ${what}. The service answered ${refusal.message}`, { cause: refusal });
        }
        [wait, reason] = [retryAfterOf(response) ?? wait, refusal.message];
      } catch (error) {
        this.#connection.signal.throwIfAborted();
        if (!(error instanceof ConnectionFailed)) throw error;
        if (!this.#answered && NOBODY_THERE.includes(error.code)) throw this.#notFound(error);
        reason = error.message;
      }
      if (performance.now() - since + wait > PATIENCE) {
        throw new OperatorError(`Could not ${what}: ${reason} Run the same command again later to continue.`);
      }
      if (wait > 5_000) this.#connection.remark(`Waiting ${Math.ceil(wait / 1000).toString()} s to ${what}: ${reason}`);
      await this.wait(wait);
    }
  }

  #notFound(error: ConnectionFailed): OperatorError {
    return new OperatorError(
      `No service answers at ${this.#connection.url} (${error.code ?? error.message}). Start it, or name its URL with --url.`,
      { cause: error },
    );
  }
}

function refusalIn(error: unknown): ApiRefusal | null {
  return error instanceof OperatorError && error.cause instanceof ApiRefusal ? error.cause : null;
}

/** Why nothing of a batch was taken. @throws the error when something of it may have been taken. */
function reasonOf(error: unknown, lostBefore: boolean): string {
  const refusal = refusalIn(error);
  if (refusal === null) throw error;
  if (REFUSES_AFTER_KEY.includes(refusal.status) && refusal.body !== null) return refusal.message;
  if (!REFUSES_BEFORE_KEY.includes(refusal.status)) throw error;
  if (!lostBefore) return refusal.message;
  throw new OperatorError(
    `A batch was sent, its answer was lost, and now it is refused: ${refusal.message}. It may have been accepted before, so its tokens stay as they are. Let the service and its proxies accept a body of this size again, then run the same command again.`,
    { cause: refusal },
  );
}
