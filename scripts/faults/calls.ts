import type { Random } from "../scene/random.ts";
import type { World } from "./world.ts";

/** One HTTP call of an app. */
export interface Call {
  method?: "PATCH";
  path: string;
  body: Record<string, unknown>;
  /** A picture that is uploaded first. The body then names it as `image`. */
  picture?: string;
}

/** Tokens that exist for sure, read from the database between two rounds. */
export interface KnownTokens {
  /** Token id and owner of tokens in the ERC721 collection. */
  owners: [tokenId: string, owner: string][];
  /** Ids that were created in the ERC1155 collection. */
  created: string[];
}

/** What a call may refer to. */
interface Subject {
  world: World;
  random: Random;
  known: KnownTokens;
  /** The next ERC1155 id that nobody has created. */
  newId: () => number;
}

/** One kind of call. */
interface CallKind {
  /** How often it is made, relative to the other kinds. */
  weight: number;
  /** Known tokens that it needs. */
  needs?: keyof KnownTokens;
  /**
   * How the request must end, whatever goes wrong: `completed`, or failed with this error code. Absent for calls that a
   * reorganization may put before the calls that they rely on: these may end either way.
   */
  mustEnd?: "completed" | { errorCode: string };
  build(subject: Subject): Call;
}

function mint(body: Record<string, unknown>): Call {
  return { path: "/v1/nfts", body };
}

function transfer(body: Record<string, unknown>): Call {
  return { path: "/v1/transfers", body };
}

/** An image. Few enough ids that some repeat. */
function pictureOf(random: Random): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" id="p${random.integer(1, 500).toString()}"/>`;
}

const CALLS = {
  "create-collection": {
    weight: 2,
    mustEnd: "completed",
    build: ({ random }) => {
      const type = random.pick(["ERC721", "ERC1155"]);
      return { path: "/v1/collections", body: { type, name: "More", symbol: "MORE" } };
    },
  },
  "mint-erc721": {
    weight: 50,
    mustEnd: "completed",
    build: ({ world, random }) => mint({ collection_address: world.erc721, to_address: random.pick(world.wallets) }),
  },
  "mint-with-media": {
    weight: 6,
    mustEnd: "completed",
    build: ({ world, random }) => {
      const to = random.pick(world.wallets);
      const image = `data:image/svg+xml;base64,${Buffer.from(pictureOf(random)).toString("base64")}`;
      return mint({ collection_address: world.erc721, to_address: to, name: "Picture", image, copy_media: true });
    },
  },
  /** Only the fault makes such calls: each time that the media are fetched, the process dies. */
  "mint-that-kills": {
    weight: 0,
    mustEnd: { errorCode: "media_unavailable" },
    build: ({ world, random }) => mint({ collection_address: world.erc721, to_address: random.pick(world.wallets) }),
  },
  "mint-with-upload": {
    weight: 4,
    mustEnd: "completed",
    build: ({ world, random }) => {
      const copy = random.next() < 0.5;
      const body = { collection_address: world.erc721, to_address: random.pick(world.wallets), name: "Uploaded" };
      return { ...mint({ ...body, copy_media: copy }), picture: pictureOf(random) };
    },
  },
  /** To a user of whom some calls at the same time may be the first to hear. */
  "mint-to-user": {
    weight: 10,
    mustEnd: "completed",
    build: ({ world, random }) => {
      const user = `user ${random.integer(1, 2_000).toString()}`;
      return mint({ collection_address: world.erc721, to_user: user, reference: `of ${user}` });
    },
  },
  /** The receiver refuses in the simulation. */
  "mint-refused": {
    weight: 2,
    mustEnd: { errorCode: "receiver_rejected" },
    build: ({ world }) => mint({ collection_address: world.erc721, to_address: world.refusing.always }),
  },
  /** The receiver accepts in the simulation and refuses in the block. */
  "mint-refused-late": {
    weight: 2,
    mustEnd: { errorCode: "receiver_rejected" },
    build: ({ world }) => mint({ collection_address: world.erc721, to_address: world.refusing.onChain }),
  },
  "create-erc1155": {
    weight: 5,
    mustEnd: "completed",
    build: ({ world, random, newId }) =>
      mint({
        collection_address: world.erc1155,
        initial_owner: random.pick(world.wallets),
        token_id: newId(),
        initial_supply: 1_000,
      }),
  },
  "mint-erc1155": {
    weight: 10,
    needs: "created",
    build: ({ world, random, known }) =>
      mint({
        collection_address: world.erc1155,
        to_address: random.pick(world.wallets),
        token_id: random.pick(known.created),
        quantity: 10,
      }),
  },
  "transfer-erc721": {
    weight: 16,
    needs: "owners",
    build: ({ world, random, known }) => {
      const [token, owner] = random.pick(known.owners);
      const to = random.pick(world.wallets);
      return transfer({ from_address: owner, to_address: to, contract_address: world.erc721, token_id: token });
    },
  },
  "transfer-erc1155": {
    weight: 5,
    needs: "created",
    build: ({ world, random, known }) =>
      transfer({
        from_address: random.pick(world.wallets),
        to_address: random.pick(world.wallets),
        contract_address: world.erc1155,
        token_id: random.pick(known.created),
        amount: random.integer(1, 3),
      }),
  },
  "transfer-foreign": {
    weight: 2,
    build: ({ world, random }) =>
      transfer({
        from_address: random.pick(world.wallets),
        to_address: random.pick(world.wallets),
        contract_address: world.foreign,
        token_id: random.integer(1, 3 * world.wallets.length),
      }),
  },
  "change-metadata": {
    weight: 3,
    needs: "owners",
    mustEnd: "completed",
    build: ({ world, random, known }) => {
      const [token] = random.pick(known.owners);
      const description = `Changed ${random.integer(0, 1e9).toString()}`;
      return { method: "PATCH", path: `/v1/collections/${world.erc721}/${token}`, body: { description } };
    },
  },
} satisfies Record<string, CallKind>;

export type Kind = keyof typeof CALLS;
const KINDS = Object.keys(CALLS) as Kind[];

function callKind(kind: Kind): CallKind {
  return CALLS[kind];
}

/** Most items of a batch. */
const MAX_ITEMS = 20;

/** A batch of calls, and the kind of each item. */
export interface Batch {
  path: string;
  items: { kind: Kind; body: Call["body"] }[];
}

/** Draws some calls of one path, as drawn calls are distributed, for one batch. */
export function drawBatch(subject: Subject): Batch {
  const first = drawCall(subject, (kind) => BATCHED.includes(kind));
  const items = [first];
  const wanted = subject.random.integer(1, MAX_ITEMS);
  const others = BATCHED.filter((kind) => pathOf(kind) === first.path);
  while (items.length < wanted) items.push(drawCall(subject, (kind) => others.includes(kind)));
  return { path: `${first.path}/batch`, items: items.map(({ kind, body }) => ({ kind, body })) };
}

/** Kinds that a batch may have. */
const BATCHED = KINDS.filter((kind) => pathOf(kind) !== null);

function pathOf(kind: Kind): string | null {
  if (kind === "mint-with-upload") return null;
  if (kind.startsWith("transfer-")) return "/v1/transfers";
  return kind.includes("mint-") || kind === "create-erc1155" ? "/v1/nfts" : null;
}

/** Draws a kind by its weight, out of those for which the needed tokens are known, and makes a call of it. */
export function drawCall(subject: Subject, among: (kind: Kind) => boolean = () => true): Call & { kind: Kind } {
  const { random, known } = subject;
  const possible = KINDS.filter((kind) => {
    const { needs } = callKind(kind);
    return among(kind) && (needs === undefined || known[needs].length > 0);
  });
  let position = random.next() * possible.reduce((sum, kind) => sum + CALLS[kind].weight, 0);
  const kind = possible.find((candidate) => (position -= CALLS[candidate].weight) < 0) ?? "mint-erc721";
  return { kind, ...callKind(kind).build(subject) };
}

/** Whether a final request of this kind ended as no fault may make it end. */
export function endedWrongly(kind: Kind, status: string, errorCode: string | null): boolean {
  const { mustEnd } = callKind(kind);
  if (mustEnd === undefined) return false;
  return mustEnd === "completed" ? status === "failed" : status !== "failed" || errorCode !== mustEnd.errorCode;
}
