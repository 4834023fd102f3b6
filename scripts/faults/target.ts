import { randomBytes } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";

import { OpenCallers } from "../scene/callers.ts";
import { NodeProcess } from "../scene/node.ts";
import { residentOf, resetPeak } from "../scene/resident.ts";
import { Scene } from "../scene/scene.ts";
import { type App, groundOf, Installation, type InstallationOptions, type Json } from "./installation.ts";

/** Milliseconds in which a mint of the other app must be completed. */
const SETTLE_TIMEOUT = 30_000;
/** A service with one role less than usual: nothing here speaks to the IPFS network. */
const ROLES = "api,relayer,indexer,webhooks,media";
/** Milliseconds for which the service rests before its memory counts as idle. */
const REST = 3_000;

/** A service, an app that attacks it, and an app that has nothing to do with that. */
export class Target extends Installation {
  readonly callers = new OpenCallers(this.url);
  attacker: App = { name: "attacker", token: "", from: "127.0.0.2" };
  other: App = { name: "other", token: "", from: "127.0.0.1" };
  /** MiB. */
  #idle = 0;
  #otherMint: Json = {};

  static launch(options: InstallationOptions): Promise<Target> {
    return Scene.open("attacks", async (scene) => {
      const media = options.engine === "postgres" ? { MEDIA_STORE: "database" } : {};
      const settings = { ROLES, ...media, ...options.settings };
      const node = () => NodeProcess.underLoad();
      const target = new Target(scene, await groundOf(scene, { node, ...options, settings }));
      await scene.add({ stop: () => target.kill() });
      await target.#prepare();
      return target;
    });
  }

  get stopped(): boolean {
    return this.service.exited;
  }

  /** How the process ended. */
  get end(): string {
    const { exitCode, signalCode } = this.service.child;
    return signalCode ?? `exit code ${String(exitCode)}`;
  }

  /** Makes a token for the app. @returns its id and the token. */
  async token(app: App): Promise<{ token_id: string; token: string }> {
    return JSON.parse(await this.cli("token", "create", app.name, "--json")) as { token_id: string; token: string };
  }

  /** @returns when it was revoked, in milliseconds since 1970. */
  async revoke(tokenId: string): Promise<number> {
    const { revoked_at: at } = JSON.parse(await this.cli("token", "revoke", tokenId, "--json")) as Json;
    return Date.parse(String(at));
  }

  /** A file in the attacker's app, served under `/ipfs`. @returns its CID. */
  async upload(bytes: number): Promise<string> {
    const answer = await this.call(this.attacker, "POST", "/v1/media", undefined, {
      body: randomBytes(bytes),
      headers: { "content-type": "application/octet-stream" },
    });
    if (answer.status !== 200) throw new Error(`the upload got ${String(answer.status)}: ${answer.text.slice(0, 200)}`);
    return (JSON.parse(answer.text) as { cid: string }).cid;
  }

  /** From now on, the peak of the memory counts. */
  async rest(): Promise<void> {
    await wait(REST);
    this.#idle = (await residentOf(this.service.pid))?.now ?? 0;
    await resetPeak(this.service.pid);
  }

  /** MiB of resident memory above that of the idle service, at the peak since `rest`; 0 when it has stopped. */
  async peak(): Promise<number> {
    const resident = this.stopped ? null : await residentOf(this.service.pid).catch(() => null);
    return resident === null ? 0 : resident.peak - this.#idle;
  }

  /** A mint of the other app. @returns the seconds until it is completed. @throws when it is not. */
  async otherMints(timeout = SETTLE_TIMEOUT): Promise<number> {
    const started = performance.now();
    const { request_id: id } = await this.ok<{ request_id: string }>(this.other, "POST", "/v1/nfts", this.#otherMint);
    await this.completed(this.other, id, timeout);
    return (performance.now() - started) / 1_000;
  }

  override async stop(): Promise<void> {
    this.callers.destroy();
    await super.stop();
  }

  async #prepare(): Promise<void> {
    await this.start();
    this.attacker = await this.app("attacker", "127.0.0.2");
    this.other = await this.app("other");
    const [collection, to] = [await this.collection(this.other), await this.wallet(this.other)];
    this.#otherMint = { collection_address: collection, to_address: to, name: "Other" };
    await this.otherMints();
  }
}
