import { setTimeout as wait } from "node:timers/promises";

import { ERC1155Collection__factory } from "../../contracts/generated/factories/ERC1155Collection__factory.ts";
import { HostileERC1155__factory } from "../../types/ethers-contracts/factories/mocks/HostileERC1155__factory.ts";
import { OpenCallers, type RawAnswer, readSlowly } from "../scene/callers.ts";
import { NodeProcess } from "../scene/node.ts";
import { tokenOf } from "./faults-of-callers.ts";
import type { Alone, App, World } from "./world.ts";

/** What a caller does to stop or slow the service, too large for a campaign: it is tried on a service of its own. */
export interface Attack extends Pick<Alone, "node" | "settings"> {
  name: string;
  /** Prepares the attack, while nothing is measured. @returns makes the attack, and says what happened to the attacker. */
  prepare: (world: World) => Promise<() => Promise<string>>;
}

const MIB = 2 ** 20;
/** Bytes of `attributes`: the largest that is accepted, and the largest that fit into the body of a batch. */
const LARGEST = 65_000;
const HUGE = 8 * MIB - 2_000;
/** Bytes of a character that JSON writes as six, in the largest `unlockable_content`. */
const CONTROL = "\u0001".repeat(65_536);
/** Tokens of a page. */
const PAGE = 30;
/** Milliseconds for which connections that hold something are kept before the result counts. */
const HOLD = 10_000;
/** Addresses of a caller who has several: more connections than one address may have. */
const ADDRESSES = ["127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"];

/** "36 x 200, 12 x 503 unavailable". */
function tally(answers: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const answer of answers) counts.set(answer, (counts.get(answer) ?? 0) + 1);
  return [...counts].map(([answer, count]) => `${count.toString()} x ${answer}`).join(", ");
}

/** The status of a call, or of the only item of a batch, and its error code. */
function resultOf({ status, text }: RawAnswer): string {
  if (status === null) return text;
  const { error_code: code, results } = (text === "" ? {} : JSON.parse(text)) as {
    error_code?: string;
    results?: { status?: number; error_code?: string }[];
  };
  const item = results?.[0];
  if (item?.error_code !== undefined) return `422 ${item.error_code}`;
  return code === undefined ? status.toString() : `${status.toString()} ${code}`;
}

/** Runs `count` calls, `width` at the same time. */
async function inParallel<T>(count: number, width: number, call: (index: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const index = next++;
      results[index] = await call(index);
    }
  };
  await Promise.all(Array.from({ length: Math.min(count, width) }, worker));
  return results;
}

/** The same call again and again. @returns what came back. */
async function repeat(count: number, width: number, call: (index: number) => Promise<RawAnswer>): Promise<string> {
  return tally((await inParallel(count, width, call)).map(resultOf));
}

/** Mints of the attacker with metadata of 8 MiB, in one block. The body of a batch may be larger than that of a single mint. */
async function mintHuge(world: World): Promise<() => Promise<string>> {
  const { attacker } = world;
  // Quotes: JSON within JSON, as in the parameter of a statement, doubles their size again.
  const item = mintTo(attacker.wallet, attacker.collection, { attributes: ['"'.repeat(HUGE / 2)] });
  const body = JSON.stringify({ items: [item] });
  await world.node.mineAt({ gas: 60_000_000, seconds: 6 });
  return () => repeat(36, 12, () => world.call(attacker, "POST", "/v1/nfts/batch", body));
}

function mintTo(to: string, collection: string, fields: object): Record<string, unknown> {
  return { collection_address: collection, to_address: to, ...fields };
}

/** Makes mints of the attacker, and waits until all are completed. */
async function fill(world: World, bodies: readonly Record<string, unknown>[]): Promise<void> {
  const { attacker } = world;
  const ids = await inParallel(bodies.length, 6, (index) => attacker.client.accept("/v1/nfts", bodies[index] ?? {}));
  for (const id of ids) await world.completed(attacker, String(id));
  attacker.accepted.push(...ids.map((id) => ({ id: String(id), kind: "mint-erc721" as const })));
}

/** Tokens of the attacker in a wallet of another app, which 10 readers list and do not read. */
async function fillOther(world: World): Promise<() => Promise<string>> {
  const [reader, wallet = ""] = [{ ...world.app, from: "127.0.0.3" }, world.wallets[0]];
  const mint = mintTo(wallet, world.attacker.collection, { attributes: ["x".repeat(LARGEST)] });
  await fill(world, Array<typeof mint>(PAGE).fill(mint));
  return () => readNothing(world, reader, `/v1/accounts/${wallet}?limit=30`, 10);
}

/** A wallet of the attacker with tokens whose content needs six times its size in an answer. */
async function fillWithControls(world: World): Promise<void> {
  const { wallet, collection } = world.attacker;
  const mint = mintTo(wallet, collection, { unlockable_content: CONTROL });
  await fill(world, Array<typeof mint>(PAGE).fill(mint));
  // The content is shown once the mint's block is final.
  await world.mine(15);
}

/** Connections that ask and then read nothing. */
async function readNothing(world: World, app: App, path: string, count: number): Promise<string> {
  const callers = callersOf(world);
  const head = OpenCallers.head("GET", path, { Authorization: `Bearer ${app.token}` });
  await inParallel(count, 50, () => callers.begin([head], app.from));
  return held(callers);
}

function callersOf({ service }: World): OpenCallers {
  return new OpenCallers(service.apiUrls[0] ?? "");
}

async function held(callers: OpenCallers): Promise<string> {
  await wait(HOLD);
  const answers = [...callers.answers].map(([status, count]) => `${count.toString()} x ${status}`);
  return [...answers, `${callers.closed.toString()} closed`, `${callers.open.toString()} still open`].join(", ");
}

/** A mint with a literal in place of its `attributes`, as a client may write it. */
function mintLiteral(literal: string): Attack["prepare"] {
  return (world) => {
    const { attacker } = world;
    const mint = mintTo(attacker.wallet, attacker.collection, { attributes: ["literal"] });
    const body = JSON.stringify(mint).replace('"literal"', literal);
    return Promise.resolve(() => repeat(50, 10, () => world.call(attacker, "POST", "/v1/nfts", body)));
  };
}

async function listLargeUris(world: World): Promise<() => Promise<string>> {
  const { attacker, node } = world;
  const owner = await node.provider.getSigner(3);
  const collection = await world.collection(attacker, { type: "ERC1155", new_owner: owner.address });
  const contract = ERC1155Collection__factory.connect(collection, owner);
  const ids = Array.from({ length: PAGE }, (_, index) => index + 1);
  const created = { collection_address: collection, initial_owner: attacker.wallet, initial_supply: 1 };
  await fill(
    world,
    ids.map((id) => ({ ...created, token_id: id })),
  );
  for (const id of ids) {
    const uri = `https://outside.example/${"x".repeat(MIB / 2)}`;
    await (await contract.setTokenURI(id, uri, { gasLimit: 2_000_000_000 })).wait();
  }
  return () => listOften(world);
}

async function listOften(world: World): Promise<string> {
  const { attacker } = world;
  const list = () => world.call(attacker, "GET", `/v1/accounts/${attacker.wallet}?limit=30`);
  const answers = await inParallel(20, 10, list);
  const largest = Math.max(...answers.map(({ text }) => text.length)) / MIB;
  return `${tally(answers.map(({ status }) => String(status)))}; the largest page has ${largest.toFixed(1)} MiB`;
}

async function readFilesSlowly(world: World): Promise<() => Promise<string>> {
  const [body, callers] = [Buffer.alloc(20 * MIB, "x"), callersOf(world)];
  const { text } = await world.call(world.attacker, "POST", "/v1/media", undefined, { body, headers: BYTES });
  const head = OpenCallers.head("GET", `/ipfs/${(JSON.parse(text) as { cid: string }).cid}`, {});
  return async () => {
    await inParallel(500, 50, async () => {
      const socket = await callers.begin([head], world.attacker.from);
      if (socket !== null) readSlowly(socket, 65_536, 2_000);
    });
    return held(callers);
  };
}

const BYTES = { "content-type": "application/octet-stream" };

function sendBodiesSlowly(world: World): Promise<() => Promise<string>> {
  const callers = callersOf(world);
  const half = Buffer.from(`{"user_identifier":"${"x".repeat(MIB - 2_000)}`);
  const head = OpenCallers.head("POST", "/v1/accounts", {
    Authorization: `Bearer ${world.attacker.token}`,
    "Content-Type": "application/json",
    "Content-Length": MIB.toString(),
  });
  return Promise.resolve(async () => {
    await inParallel(3_000, 50, (index) => callers.begin([head, half], ADDRESSES[index % ADDRESSES.length]));
    return held(callers);
  });
}

function uploadMuch(world: World): Promise<() => Promise<string>> {
  const upload = (index: number) => {
    // Each file is another one.
    const body = Buffer.alloc(20 * MIB, "x");
    body.writeUInt32LE(index);
    return world.call(world.attacker, "POST", "/v1/media", undefined, { body, headers: BYTES });
  };
  return Promise.resolve(() => repeat(48, 48, upload));
}

async function useFiveTokens(world: World): Promise<() => Promise<string>> {
  const tokens: string[] = [];
  for (let index = 0; index < 5; index++) tokens.push((await tokenOf(world)).token);
  const call = (index: number) =>
    world.call({ ...world.attacker, token: tokens[index % 5] ?? "" }, "GET", "/v1/collections?limit=1");
  return () => repeat(3_500, 20, call);
}

function guessTokens(world: World): Promise<() => Promise<string>> {
  const call = (index: number) => {
    const stranger = { ...world.app, token: `mnt_${index.toString().padStart(40, "0")}` };
    return world.call(stranger, "POST", "/v1/nfts", {});
  };
  return Promise.resolve(() => repeat(5_000, 40, call));
}

/** Self transfers in an ERC1155 collection of the service that 60 M gas pay for, each of another id. */
const FLOOD = { transactions: 4, moves: 4_150 };

/** The node puts the code of the mock in the place of the collection, which saves creating thousands of ids first. */
async function floodOwn(world: World): Promise<() => Promise<string>> {
  const { attacker, node } = world;
  const { wallet } = attacker;
  const collection = await world.collection(attacker, { type: "ERC1155" });
  const signer = await node.provider.getSigner(4);
  const mock = await (await new HostileERC1155__factory(signer).deploy()).waitForDeployment();
  await node.provider.send("anvil_setCode", [collection, await node.provider.getCode(await mock.getAddress())]);
  const hostile = HostileERC1155__factory.connect(collection, signer);
  return async () => {
    await node.provider.send("evm_setAutomine", [false]);
    for (let sent = 0; sent < FLOOD.transactions; sent++)
      await hostile.spam(wallet, wallet, 1 + sent * FLOOD.moves, FLOOD.moves, 1, false, { gasLimit: 16_700_000 });
    await node.mine();
    await node.provider.send("evm_setAutomine", [true]);
    const { gasUsed = 0n } = (await node.provider.getBlock("latest")) ?? {};
    if (gasUsed >= BigInt(FLOOD.transactions) * 16_700_000n) throw new Error("the moves do not fit into their gas");
    const mint = mintTo(wallet, attacker.collection, { name: "After the flood" });
    await world.completed(attacker, String(await attacker.client.accept("/v1/nfts", mint)));
    const { total } = await attacker.client.ok("GET", `/v1/accounts/${wallet}/history?limit=1`);
    return `${(Number(gasUsed) / 1e6).toFixed(0)} M gas; ${String(total)} entries of the history`;
  };
}

/** Small limits as they are by default: the rest of the attacks make more calls than these allow. */
const DEFAULT_RATES = { RATE_LIMIT_PER_MINUTE: "600", PUBLIC_RATE_LIMIT_PER_MINUTE: "6000" };

export const ATTACKS: readonly Attack[] = [
  { name: "36 mints with 8 MiB of `attributes` in one block", prepare: mintHuge },
  {
    name: "30 of the largest tokens in a wallet of another app, and 10 readers that do not read",
    prepare: fillOther,
  },
  {
    name: "30 tokens with 64 KiB of control characters as `unlockable_content`, listed 20 times",
    prepare: async (world) => {
      await fillWithControls(world);
      return () => listOften(world);
    },
  },
  { name: "50 mints with the number 1e999999999", prepare: mintLiteral("1e999999999") },
  { name: "50 mints with a number of 100,000 digits", prepare: mintLiteral("9".repeat(100_000)) },
  {
    name: "30 URIs of 512 KiB from an outside owner's contract, listed 20 times",
    // Its blocks have room for texts of 512 KiB in the state.
    node: () => NodeProcess.anvil(["--gas-limit", "3000000000"]),
    prepare: listLargeUris,
  },
  { name: "500 slow readers of a file of 20 MiB at /ipfs", prepare: readFilesSlowly },
  { name: "3,000 open bodies of 1 MiB", prepare: sendBodiesSlowly },
  {
    name: "600 answers of 4 MiB that one app does not read",
    prepare: async (world) => {
      await fillWithControls(world);
      return () => readNothing(world, world.attacker, `/v1/accounts/${world.attacker.wallet}?limit=10`, 600);
    },
  },
  { name: "48 uploads of 20 MiB at once", prepare: uploadMuch },
  { name: "3,500 calls with five tokens of one app", settings: DEFAULT_RATES, prepare: useFiveTokens },
  { name: "A flood of moves: a block of self transfers in an own ERC1155 collection", prepare: floodOwn },
  {
    name: "5,000 calls with unknown tokens from the other app's address",
    settings: DEFAULT_RATES,
    prepare: guessTokens,
  },
];
