import { drawCall, type Kind, type KnownTokens } from "./calls.ts";
import type { World } from "./world.ts";

/** A request that the service accepted. Its result is checked later. */
export interface Accepted {
  id: string;
  kind: Kind;
}

/** Makes random calls of an app. */
export class Load {
  readonly #world: World;
  #known: KnownTokens = { owners: [], created: [] };
  #nextId = 1;

  constructor(world: World) {
    this.#world = world;
  }

  /** Sets the tokens that later calls may transfer, change, or mint more of. */
  setKnownTokens(known: KnownTokens): void {
    this.#known = known;
  }

  /** Makes `count` calls, `width` at a time. @returns those that were accepted. */
  async run(count: number, width = 8): Promise<Accepted[]> {
    const accepted: Accepted[] = [];
    const world = this.#world;
    let left = count;
    const worker = async () => {
      while (left-- > 0) {
        const subject = { world, random: world.random, known: this.#known, newId: () => this.#nextId++ };
        const { kind, path, body, method } = drawCall(subject);
        const id = await world.client.accept(path, body, method);
        if (id !== null) accepted.push({ id, kind });
      }
    };
    await Promise.all(Array.from({ length: width }, worker));
    return accepted;
  }
}
