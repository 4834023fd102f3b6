import type { Random } from "./random.ts";
import type { World } from "./world.ts";

/** A request that the service accepted: what must come of it is checked later. */
export interface Accepted {
  id: string;
  kind: "mint-erc721" | "create-erc1155" | "mint-erc1155" | "transfer-erc721" | "transfer-erc1155" | "transfer-foreign";
}

/** Weights of what an app asks for. */
const MIX: [Accepted["kind"], number][] = [
  ["mint-erc721", 60],
  ["create-erc1155", 5],
  ["mint-erc1155", 10],
  ["transfer-erc721", 18],
  ["transfer-erc1155", 5],
  ["transfer-foreign", 2],
];

/** What the load knows to exist, so that it asks for things that can succeed. */
export class Load {
  readonly #world: World;
  readonly #random: Random;
  /** Owner by token id of the ERC721 collection, as the last look at the chain said. */
  #owners: [string, string][] = [];
  #created: string[] = [];
  #nextId = 1;
  refused = 0;

  constructor(world: World) {
    this.#world = world;
    this.#random = world.random;
  }

  /** What exists for sure: tokens can be moved, ids minted more of. */
  know(known: { owners: [string, string][]; created: string[] }): void {
    this.#owners = known.owners;
    this.#created = known.created;
  }

  /** Sends `count` calls, a few at a time, and gives those that were accepted. */
  async run(count: number, width = 8): Promise<Accepted[]> {
    const accepted: Accepted[] = [];
    let left = count;
    const worker = async () => {
      while (left-- > 0) {
        const { kind, path, body } = this.#next();
        const id = await this.#world.client.accept(path, body);
        if (id === null) this.refused++;
        else accepted.push({ id, kind });
      }
    };
    await Promise.all(Array.from({ length: width }, worker));
    return accepted;
  }

  #next(): { kind: Accepted["kind"]; path: string; body: Record<string, unknown> } {
    const kind = this.#draw();
    const { erc721, erc1155, foreign, wallets } = this.#world;
    const [from, to] = [this.#random.pick(wallets), this.#random.pick(wallets)];
    switch (kind) {
      case "mint-erc721":
        return { kind, path: "/v1/nfts", body: { collection_address: erc721, to_address: to } };
      case "create-erc1155":
        return {
          kind,
          path: "/v1/nfts",
          body: { collection_address: erc1155, initial_owner: to, token_id: this.#nextId++, initial_supply: 1_000 },
        };
      case "mint-erc1155":
        return {
          kind,
          path: "/v1/nfts",
          body: {
            collection_address: erc1155,
            to_address: to,
            token_id: this.#random.pick(this.#created),
            quantity: 10,
          },
        };
      case "transfer-erc721": {
        const [token, owner] = this.#random.pick(this.#owners);
        return {
          kind,
          path: "/v1/transfers",
          body: { from_address: owner, to_address: to, contract_address: erc721, token_id: token },
        };
      }
      case "transfer-erc1155":
        return {
          kind,
          path: "/v1/transfers",
          body: {
            from_address: from,
            to_address: to,
            contract_address: erc1155,
            token_id: this.#random.pick(this.#created),
            amount: this.#random.whole(1, 3),
          },
        };
      case "transfer-foreign":
        return {
          kind,
          path: "/v1/transfers",
          body: {
            from_address: from,
            to_address: to,
            contract_address: foreign,
            token_id: this.#random.whole(1, 3 * wallets.length),
          },
        };
    }
  }

  #draw(): Accepted["kind"] {
    const possible = MIX.filter(([kind]) => {
      if (kind === "transfer-erc721") return this.#owners.length > 0;
      return kind === "mint-erc1155" || kind === "transfer-erc1155" ? this.#created.length > 0 : true;
    });
    let mark = this.#random.next() * possible.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [kind, weight] of possible) {
      mark -= weight;
      if (mark < 0) return kind;
    }
    return "mint-erc721";
  }
}
