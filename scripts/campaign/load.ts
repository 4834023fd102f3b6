import type { Random } from "./random.ts";
import type { World } from "./world.ts";

/** A request that the service accepted: what must come of it is checked later. */
export interface Accepted {
  id: string;
  kind: Kind;
}

/** Weights of what an app asks for. */
const MIX = {
  "create-collection": 2,
  "mint-erc721": 50,
  "mint-with-media": 6,
  /** To a receiver that refuses; and to one that refuses on the chain alone. */
  "mint-refused": 2,
  "mint-refused-late": 2,
  "create-erc1155": 5,
  "mint-erc1155": 10,
  "transfer-erc721": 16,
  "transfer-erc1155": 5,
  "transfer-foreign": 2,
  "change-metadata": 3,
};
export type Kind = keyof typeof MIX;
const KINDS = Object.keys(MIX) as Kind[];

/** Kinds that can only fail, and must with this code. */
export const DOOMED: Partial<Record<Kind, string>> = {
  "mint-refused": "receiver_rejected",
  "mint-refused-late": "receiver_rejected",
};

/**
 * Kinds that nothing on the chain stands against: once accepted they complete, whatever goes wrong. The others may meet a
 * reorganisation that puts them before what they rest on.
 */
export const CERTAIN: ReadonlySet<Kind> = new Set([
  "create-collection",
  "mint-erc721",
  "mint-with-media",
  "create-erc1155",
  "change-metadata",
]);

interface Call {
  kind: Kind;
  method?: "PATCH";
  path: string;
  body: Record<string, unknown>;
}

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
        const { kind, path, body, method } = this.#next();
        const id = await this.#world.client.accept(path, body, method);
        if (id === null) this.refused++;
        else accepted.push({ id, kind });
      }
    };
    await Promise.all(Array.from({ length: width }, worker));
    return accepted;
  }

  #next(): Call {
    const kind = this.#draw();
    const { erc721, erc1155, foreign, wallets, refusing } = this.#world;
    const [from, to] = [this.#random.pick(wallets), this.#random.pick(wallets)];
    switch (kind) {
      case "create-collection": {
        const type = this.#random.pick(["ERC721", "ERC1155"]);
        return { kind, path: "/v1/collections", body: { type, name: "More", symbol: "MORE" } };
      }
      case "mint-erc721":
        return { kind, path: "/v1/nfts", body: { collection_address: erc721, to_address: to } };
      case "mint-with-media": {
        // Some of the pictures are the same, some new.
        const picture = Buffer.from(
          `<svg xmlns="http://www.w3.org/2000/svg" id="p${this.#random.whole(1, 500).toString()}"/>`,
        );
        const image = `data:image/svg+xml;base64,${picture.toString("base64")}`;
        const body = { collection_address: erc721, to_address: to, name: "Picture", image, copy_media: true };
        return { kind, path: "/v1/nfts", body };
      }
      case "mint-refused":
        return { kind, path: "/v1/nfts", body: { collection_address: erc721, to_address: refusing.always } };
      case "mint-refused-late":
        return { kind, path: "/v1/nfts", body: { collection_address: erc721, to_address: refusing.onChain } };
      case "change-metadata": {
        const [token] = this.#random.pick(this.#owners);
        const description = `Changed ${this.#random.whole(0, 1e9).toString()}`;
        return { kind, method: "PATCH", path: `/v1/collections/${erc721}/${token}`, body: { description } };
      }
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

  #draw(): Kind {
    const possible = KINDS.filter((kind) => {
      if (kind === "transfer-erc721" || kind === "change-metadata") return this.#owners.length > 0;
      return kind === "mint-erc1155" || kind === "transfer-erc1155" ? this.#created.length > 0 : true;
    });
    let mark = this.#random.next() * possible.reduce((sum, kind) => sum + MIX[kind], 0);
    for (const kind of possible) {
      mark -= MIX[kind];
      if (mark < 0) return kind;
    }
    return "mint-erc721";
  }
}
