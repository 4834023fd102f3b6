import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";

import { getAddress, hexlify } from "ethers";

import type { World } from "./world.ts";

/** A mint that the service accepted. Each goes to an address of its own, so the chain shows how often it ran. */
export interface Mint {
  id: string;
  key: string;
  body: object;
  to: string;
}

/** Calls that are made at the same time. */
const WIDTH = 4;
/** Pause between two calls, in milliseconds. */
const PACE = 50;

/** An app that mints until it is stopped. */
export class Load {
  /** In the order of their answers. */
  readonly accepted: Mint[] = [];
  readonly #world: World;
  readonly #collections: readonly string[];
  #stopped = false;
  #running: Promise<unknown> = Promise.resolve();
  #made = 0;

  constructor(world: World, collections: readonly string[]) {
    this.#world = world;
    this.#collections = collections;
  }

  start(): void {
    this.#running = Promise.all(Array.from({ length: WIDTH }, () => this.#work()));
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  async #work(): Promise<void> {
    while (!this.#stopped) {
      await this.mint();
      await wait(PACE);
    }
  }

  /** Every third has a picture that the service copies. */
  async mint(): Promise<void> {
    const number = this.#made++;
    const to = getAddress(hexlify(randomBytes(20)));
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" id="p${number.toString()}"/>`;
    const picture = { image: `data:image/svg+xml,${svg}`, copy_media: true };
    const body = {
      collection_address: this.#collections[number % this.#collections.length],
      to_address: to,
      name: `Drill ${number.toString()}`,
      ...(number % 3 === 0 ? picture : {}),
    };
    const key = randomUUID();
    try {
      const { status, body: answer } = await this.#world.call("POST", "/v1/nfts", body, key);
      // A full collection refuses it.
      if (status === 200) this.accepted.push({ id: String(answer["request_id"]), key, body, to });
    } catch (error) {
      // The process was killed during the call. Whether the request was stored is unknown, as for any caller.
      if (!this.#stopped) throw error;
    }
  }
}
