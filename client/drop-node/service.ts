import { openAsBlob } from "node:fs";

import { type BulkCall, BulkMint, type BulkOptions } from "../bulk.ts";
import { type Client, createClient, type Shape } from "../client.ts";
import type { KnownUsers } from "../drop/receivers.ts";
import { lookUpUsers } from "../drop/users.ts";
import { ApiRefusal, ConnectionFailed } from "../errors.ts";
import { isBusy } from "../retries.ts";
import { type Answer, untilAnswered } from "../until-answered.ts";
import { type MediaFile, sha256Of } from "./files.ts";
import { DropStopped } from "./stopped.ts";

/** The drop stops after this many milliseconds without a useful answer. It can be continued. */
const PATIENCE = 600_000;
/** Timeout for an answer, in milliseconds. The service waits 300,000 for a file, and ends first. */
const TIMEOUT = 330_000;

/** Errors of a connection to a wrong address: no service listens there, or its name is unknown. */
const NOBODY_THERE: readonly (string | null)[] = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN"];

interface Connection {
  url: string;
  token: string;
  signal?: AbortSignal;
  remark?: (sentence: string) => void;
}

/** The service, over its public API. Waits as long as a busy service asks. @throws DropStopped when it refuses. */
export class DropService {
  readonly #client: Client;
  readonly #url: string;
  readonly #signal: AbortSignal;
  readonly #remark: (sentence: string) => void;
  /** Whether the service has answered a call. Before, a failed connection means that its URL is wrong. */
  #answered = false;

  constructor({ url, token, signal = new AbortController().signal, remark = () => undefined }: Connection) {
    this.#url = url;
    this.#signal = signal;
    this.#remark = remark;
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

  /** @returns null when the service is older and cannot check receivers. */
  async receivers(contract: string, addresses: readonly string[]): Promise<Shape<"CheckedReceiver">[] | null> {
    const body = { contract_address: contract, addresses: [...addresses] };
    const check = () => this.#client.POST("/v1/receivers/check", { body });
    try {
      return (await this.#call("check the receivers", check)).receivers;
    } catch (error) {
      if (refusalIn(error)?.status === 404) return null;
      throw error;
    }
  }

  /** Stores a file. Repeating it changes nothing. @returns its URI. */
  async upload(path: string, { file, sha256 }: MediaFile): Promise<string> {
    const blob = await openAsBlob(path);
    if ((await sha256Of(blob)) !== sha256) {
      throw new DropStopped(`${file} has changed since this run began. Run the command again.`);
    }
    const headers = { "Content-Type": "application/octet-stream" };
    const call = { headers, body: "", bodySerializer: () => blob };
    return (await this.#call(`upload ${file}`, () => this.#client.POST("/v1/media", call))).uri;
  }

  /** A bulk mint whose calls wait and fail like the other calls of the drop. */
  bulkMint(options: Pick<BulkOptions, "progress" | "keep">): BulkMint {
    const signal = this.#signal;
    const call: BulkCall = (what, send) => this.#call(what, send);
    // The drop has asked about old batches before its uploads.
    return new BulkMint(this.#client, { ...options, signal, patience: PATIENCE, sendOld: true, call });
  }

  async #call<T>(what: string, send: () => Promise<Answer<T>>): Promise<T> {
    const onWait = (wait: number, reason: string) => {
      if (wait > 5_000) this.#remark(`Waiting ${Math.ceil(wait / 1000).toString()} s to ${what}: ${reason}`);
    };
    try {
      return await untilAnswered(() => this.#tried(send), { patience: PATIENCE, signal: this.#signal, onWait });
    } catch (error) {
      if (error instanceof ApiRefusal && !isBusy(error)) {
        throw new DropStopped(`Could not ${what}. The service answered ${error.message}`, { cause: error });
      }
      if (!(error instanceof ApiRefusal || error instanceof ConnectionFailed)) throw error;
      throw new DropStopped(`Could not ${what}: ${error.message} Run the same command again later to continue.`, {
        cause: error,
      });
    }
  }

  /** One try. @throws DropStopped when the URL seems to be wrong */
  async #tried<T>(send: () => Promise<Answer<T>>): Promise<Answer<T>> {
    try {
      const answer = await send();
      this.#answered = true;
      return answer;
    } catch (error) {
      this.#signal.throwIfAborted();
      const wrong = error instanceof ConnectionFailed && !this.#answered && NOBODY_THERE.includes(error.code);
      throw wrong ? this.#notFound(error) : error;
    }
  }

  #notFound(error: ConnectionFailed): DropStopped {
    return new DropStopped(
      `No service answers at ${this.#url} (${error.code ?? error.message}). Start it, or name its URL with --url.`,
      { cause: error },
    );
  }
}

function refusalIn(error: unknown): ApiRefusal | null {
  return error instanceof DropStopped && error.cause instanceof ApiRefusal ? error.cause : null;
}
