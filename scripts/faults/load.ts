import { drawBatch, drawCall, type Kind, type KnownTokens } from "./calls.ts";
import type { World } from "./world.ts";

/** A request that the service accepted. Its result is checked later. */
export interface Accepted {
  id: string;
  kind: Kind;
}

/** This part of the calls are batches. */
const BATCHES = 0.04;

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
        if (world.random.next() < BATCHES) {
          const { path, items } = drawBatch(subject);
          const ids = await world.client.acceptBatch(
            path,
            items.map(({ body }) => body),
          );
          left -= items.length - 1;
          accepted.push(...items.flatMap(({ kind }, index) => acceptedAs(kind, ids[index])));
          continue;
        }
        const { kind, path, body, method, picture } = drawCall(subject);
        const image = picture === undefined ? {} : { image: await world.client.upload(picture) };
        const id = await world.client.accept(path, { ...body, ...image }, method);
        accepted.push(...acceptedAs(kind, id));
      }
    };
    await Promise.all(Array.from({ length: width }, worker));
    return accepted;
  }
}

function acceptedAs(kind: Kind, id: string | null | undefined): Accepted[] {
  return id == null ? [] : [{ id, kind }];
}
