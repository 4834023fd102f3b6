import { openAsBlob } from "node:fs";

import { type BulkCall, BulkMint, type BulkOptions } from "../../../client/bulk.ts";
import { type Client, createClient, type Shape } from "../../../client/client.ts";
import type { KnownUsers } from "../../../client/drop/receivers.ts";
import { lookUpUsers } from "../../../client/drop/users.ts";
import { ApiRefusal, ConnectionFailed } from "../../../client/errors.ts";
import { isBusy } from "../../../client/retries.ts";
import { type Answer, untilAnswered } from "../../../client/until-answered.ts";
import { OperatorError } from "../../operate/operator-error.ts";
import { sha256Of } from "./media-files.ts";
import type { MediaFile } from "./folder.ts";

/** The drop stops after this many milliseconds without a useful answer. It can be continued. */
const PATIENCE = 600_000;
/** Timeout for an answer, in milliseconds. The service waits 300,000 for a file, and ends first. */
const TIMEOUT = 330_000;

/** Errors of a connection to a wrong address: no service listens there, or its name is unknown. */
const NOBODY_THERE: readonly (string | null)[] = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN"];

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

  /** @returns the address; null when the app has no wallet for this user */
  async walletOf(user: string): Promise<string | null> {
    const path = { user_identifier: user };
    const get = () => this.#client.GET("/v1/accounts/user/{user_identifier}", { params: { path } });
    try {
      return (await this.#call("look for the wallet", get)).address;
    } catch (error) {
      if (refusalIn(error)?.status === 404) return null;
      throw error;
    }
  }

  /** Finds or creates the user's wallet. */
  async createWallet(user: string): Promise<string> {
    const known = await this.walletOf(user);
    if (known !== null) return known;
    const headers = { "Idempotency-Key": `drop-wallet-${crypto.randomUUID()}` };
    const create = () => this.#client.POST("/v1/accounts", { body: { user_identifier: user }, headers });
    return (await this.#call("create the wallet", create)).address;
  }

  /** Looks up users of the app before a drop. */
  async users(names: readonly string[]): Promise<KnownUsers> {
    const search = async (text: string) => {
      const page = await this.#call("search for a user", () =>
        this.#client.GET("/v1/accounts", { params: { query: { search: text } } }),
      );
      return page.wallets.map(({ user_identifier: user }) => user);
    };
    return lookUpUsers(names, { walletOf: (user) => this.walletOf(user), search }, false);
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

  /** A bulk mint whose calls wait and fail like the other calls of the drop. */
  bulkMint(options: Pick<BulkOptions, "progress" | "keep">): BulkMint {
    const { signal } = this.#connection;
    const call: BulkCall = (what, send) => this.#call(what, send);
    // The drop has asked about old batches before its uploads.
    return new BulkMint(this.#client, { ...options, signal, patience: PATIENCE, sendOld: true, call });
  }

  async #call<T>(what: string, send: () => Promise<Answer<T>>): Promise<T> {
    const { signal, remark } = this.#connection;
    const onWait = (wait: number, reason: string) => {
      if (wait > 5_000) remark(`Waiting ${Math.ceil(wait / 1000).toString()} s to ${what}: ${reason}`);
    };
    try {
      return await untilAnswered(() => this.#tried(send), { patience: PATIENCE, signal, onWait });
    } catch (error) {
      if (error instanceof ApiRefusal && !isBusy(error)) {
        throw new OperatorError(`Could not ${what}. The service answered ${error.message}`, { cause: error });
      }
      if (!(error instanceof ApiRefusal || error instanceof ConnectionFailed)) throw error;
      throw new OperatorError(`Could not ${what}: ${error.message} Run the same command again later to continue.`, {
        cause: error,
      });
    }
  }

  /** One try. @throws OperatorError when the URL seems to be wrong */
  async #tried<T>(send: () => Promise<Answer<T>>): Promise<Answer<T>> {
    try {
      const answer = await send();
      this.#answered = true;
      return answer;
    } catch (error) {
      this.#connection.signal.throwIfAborted();
      const wrong = error instanceof ConnectionFailed && !this.#answered && NOBODY_THERE.includes(error.code);
      throw wrong ? this.#notFound(error) : error;
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
