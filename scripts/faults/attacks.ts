import { setTimeout as wait } from "node:timers/promises";

import { ERC1155Collection__factory } from "../../contracts/generated/factories/ERC1155Collection__factory.ts";
import { HostileERC1155__factory } from "../../types/ethers-contracts/factories/mocks/HostileERC1155__factory.ts";
import { OpenCallers, type RawAnswer, readSlowly } from "../scene/callers.ts";
import { NodeProcess } from "../scene/node.ts";
import type { App, InstallationOptions } from "./installation.ts";
import type { Target } from "./target.ts";

/** Something that a caller does to stop or slow the service. */
export interface Attack extends Pick<InstallationOptions, "node" | "settings"> {
  name: string;
  /** Prepares the attack, while nothing is measured. @returns makes the attack, and says what happened to the attacker. */
  prepare(target: Target): Promise<() => Promise<string>>;
}

const MIB = 2 ** 20;
/** Bytes of `attributes`: the largest that is accepted today, and the largest that fit into the body of a batch. */
const LARGEST = 65_000;
const HUGE = 8 * MIB - 2_000;
const LARGE = 2 * MIB;
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

/** One mint in a batch, whose body may be larger than that of a single mint. */
function largeMint(collection: string, to: string, bytes: number): string {
  // Quotes: JSON within JSON, as in the parameter of a statement, doubles their size again.
  const item = { collection_address: collection, to_address: to, attributes: ['"'.repeat(bytes / 2)] };
  return JSON.stringify({ items: [item] });
}

/** Mints of the attacker with large metadata, in one block. */
function mintsInOneBlock(bytes: number): Attack["prepare"] {
  return async (target) => {
    const { attacker } = target;
    const body = largeMint(await target.collection(attacker), await target.wallet(attacker), bytes);
    await target.node.mineAt({ gas: 60_000_000, seconds: 6 });
    const mint = () => target.call(attacker, "POST", "/v1/nfts/batch", body);
    return async () => tally((await inParallel(36, 12, mint)).map(resultOf));
  };
}

/** The answer to a mint, and to a batch. */
interface Accepted {
  request_id?: string;
  results?: { request_id: string }[];
}

/** Makes the mints of the attacker, and waits until all are completed. */
async function fill(target: Target, bodies: readonly string[], path = "/v1/nfts"): Promise<void> {
  const { attacker } = target;
  const ids = await inParallel(bodies.length, 6, async (index) => {
    const answer = await target.ok<Accepted>(attacker, "POST", path, bodies[index]);
    return answer.request_id ?? answer.results?.[0]?.request_id ?? "";
  });
  for (const id of ids) await target.completed(attacker, id);
}

/** Fills a wallet of `holder` with tokens of 2 MiB, or the largest that the service accepts. */
async function fillWallet(target: Target, holder: App): Promise<string> {
  const { attacker } = target;
  const [collection, wallet] = [await target.collection(attacker), await target.wallet(holder)];
  const mint = (bytes: number) => largeMint(collection, wallet, bytes);
  const first = await target.call(attacker, "POST", "/v1/nfts/batch", mint(LARGE));
  const bytes = resultOf(first) === "200" ? LARGE : LARGEST;
  await fill(target, Array<string>(PAGE).fill(mint(bytes)), "/v1/nfts/batch");
  return wallet;
}

/** A wallet of the attacker with tokens whose content needs six times its size in an answer. */
async function fillWithControls(target: Target): Promise<string> {
  const { attacker } = target;
  const [collection, wallet] = [await target.collection(attacker), await target.wallet(attacker)];
  const body = { collection_address: collection, to_address: wallet, unlockable_content: CONTROL };
  await fill(target, Array<string>(PAGE).fill(JSON.stringify(body)));
  // The content is shown once the mint's block is final.
  for (let block = 0; block < 15; block++) await target.node.mine();
  return wallet;
}

/** Connections that ask and then read nothing. */
async function readNothing(target: Target, app: App, path: string, count: number): Promise<string> {
  const { callers } = target;
  const head = OpenCallers.head("GET", path, { Authorization: `Bearer ${app.token}` });
  await inParallel(count, 50, () => callers.begin([head], app.from));
  await wait(HOLD);
  return heldBy(callers);
}

function heldBy(callers: OpenCallers): string {
  const answers = [...callers.answers].map(([status, count]) => `${count.toString()} x ${status}`);
  return [...answers, `${callers.closed.toString()} closed`, `${callers.open.toString()} still open`].join(", ");
}

/** A mint with a literal in place of its `attributes`, as a client may write it. */
function mintLiteral(literal: string): Attack["prepare"] {
  return async (target) => {
    const { attacker } = target;
    const fields = { collection_address: await target.collection(attacker), to_address: await target.wallet(attacker) };
    const body = JSON.stringify({ ...fields, attributes: ["literal"] }).replace('"literal"', literal);
    return async () =>
      tally((await inParallel(50, 10, () => target.call(attacker, "POST", "/v1/nfts", body))).map(resultOf));
  };
}

async function listLargeUris(target: Target): Promise<() => Promise<string>> {
  const { attacker, node } = target;
  const owner = await node.provider.getSigner(3);
  const collection = await target.collection(attacker, { type: "ERC1155", new_owner: owner.address });
  const wallet = await target.wallet(attacker);
  const contract = ERC1155Collection__factory.connect(collection, owner);
  const ids = Array.from({ length: PAGE }, (_, index) => index + 1);
  const created = { collection_address: collection, initial_owner: wallet, initial_supply: 1 };
  await fill(
    target,
    ids.map((id) => JSON.stringify({ ...created, token_id: id })),
  );
  for (const id of ids) {
    const uri = `https://outside.example/${"x".repeat(MIB / 2)}`;
    await (await contract.setTokenURI(id, uri, { gasLimit: 2_000_000_000 })).wait();
  }
  return () => listOften(target, wallet);
}

async function listOften(target: Target, wallet: string): Promise<string> {
  const list = () => target.call(target.attacker, "GET", `/v1/accounts/${wallet}?limit=30`);
  const answers = await inParallel(20, 10, list);
  const largest = Math.max(...answers.map(({ text }) => text.length)) / MIB;
  return `${tally(answers.map(({ status }) => String(status)))}; the largest page has ${largest.toFixed(1)} MiB`;
}

async function useRevokedToken(target: Target): Promise<() => Promise<string>> {
  const { attacker, callers } = target;
  const { token, token_id: id } = await target.token(attacker);
  const authorization = `Bearer ${token}`;
  const body = JSON.stringify({ user_identifier: "late" });
  const headOf = (type: string, length: number) => ({
    ...{ Authorization: authorization, "Content-Type": type, "Content-Length": length.toString() },
  });
  return async () => {
    const bodies = await inParallel(20, 20, () =>
      callers.begin([
        OpenCallers.head("POST", "/v1/accounts", headOf("application/json", body.length)),
        body.slice(0, 5),
      ]),
    );
    const upload = await callers.begin([
      OpenCallers.head("POST", "/v1/media", headOf("application/octet-stream", MIB)),
      Buffer.alloc(MIB / 2, "x"),
    ]);
    const streams = new OpenCallers(target.url);
    const ends: number[] = [];
    for (let stream = 0; stream < 5; stream++) {
      // The end of the stream then closes the connection.
      const head = { Authorization: authorization, Accept: "text/event-stream", Connection: "close" };
      const socket = await streams.begin([OpenCallers.head("GET", "/v1/events", head)]);
      socket?.on("data", () => socket.resume());
      socket?.once("close", () => ends.push(Date.now()));
    }
    const revokedAt = await target.revoke(id);
    for (const socket of bodies) socket?.write(body.slice(5));
    upload?.write(Buffer.alloc(MIB / 2, "x"));
    const further = await target.call({ ...attacker, token }, "GET", "/v1/accounts");
    await wait(5_000);
    const last = ends.length === 5 ? `ended after ${((Math.max(...ends) - revokedAt) / 1_000).toFixed(1)} s` : "";
    streams.destroy();
    const late = `of 20 bodies and an upload that arrived later: ${heldBy(callers)}`;
    return `${late}; a new call: ${resultOf(further)}; 5 event streams: ${last === "" ? `${ends.length.toString()} ended` : last}`;
  };
}

async function readFilesSlowly(target: Target): Promise<() => Promise<string>> {
  const cid = await target.upload(20 * MIB);
  return async () => {
    const head = OpenCallers.head("GET", `/ipfs/${cid}`, {});
    await inParallel(500, 50, async () => {
      const socket = await target.callers.begin([head], "127.0.0.2");
      if (socket !== null) readSlowly(socket, 65_536, 2_000);
    });
    await wait(HOLD);
    return heldBy(target.callers);
  };
}

async function sendBodiesSlowly(target: Target): Promise<() => Promise<string>> {
  const { attacker, callers } = target;
  const half = Buffer.from(`{"user_identifier":"${"x".repeat(MIB - 2_000)}`);
  const head = OpenCallers.head("POST", "/v1/accounts", {
    Authorization: `Bearer ${attacker.token}`,
    "Content-Type": "application/json",
    "Content-Length": MIB.toString(),
  });
  return Promise.resolve(async () => {
    await inParallel(3_000, 50, (index) => callers.begin([head, half], ADDRESSES[index % ADDRESSES.length]));
    await wait(HOLD);
    return heldBy(callers);
  });
}

async function uploadMuch(target: Target): Promise<() => Promise<string>> {
  const file = Buffer.alloc(20 * MIB, "x");
  const headers = { "content-type": "application/octet-stream" };
  const upload = (index: number) => {
    // Each file is another one.
    const body = Buffer.from(file);
    body.writeUInt32LE(index);
    return target.call(target.attacker, "POST", "/v1/media", undefined, { body, headers });
  };
  return Promise.resolve(async () => tally((await inParallel(48, 48, upload)).map(resultOf)));
}

async function useFiveTokens(target: Target): Promise<() => Promise<string>> {
  const tokens: string[] = [];
  for (let index = 0; index < 5; index++) tokens.push((await target.token(target.attacker)).token);
  return async () => {
    const answers = await inParallel(3_500, 20, (index) => {
      const app = { ...target.attacker, token: tokens[index % 5] ?? "" };
      return target.call(app, "GET", "/v1/collections?limit=1");
    });
    return tally(answers.map(resultOf));
  };
}

async function guessTokens(target: Target): Promise<() => Promise<string>> {
  const stranger = (index: number): App => ({ ...target.other, token: `mnt_${index.toString().padStart(40, "0")}` });
  return Promise.resolve(async () => {
    const call = (index: number) => target.call(stranger(index), "POST", "/v1/nfts", {});
    return tally((await inParallel(5_000, 40, call)).map(resultOf));
  });
}

/** Batches of one transaction of a flood, and their moves: the most that fit into the gas of a transaction. */
const FLOOD = { transactions: 3, logs: 6, moves: 5_000 };
/** Self transfers in an ERC1155 collection of the service that 60 M gas pay for, each of another id. */
const SELF_TRANSFERS = { transactions: 4, logs: 1, moves: 4_150 };
/** Milliseconds within which the service must have stored a flood. */
const FLOOD_TIMEOUT = 240_000;

/** Mines a block with batches of moves to `to`. Then another app creates wallets until its mint of the next block is completed. */
async function flood(
  target: Target,
  contract: string,
  [from, to]: readonly [string, string],
  { transactions, logs, moves }: typeof FLOOD,
): Promise<string> {
  const { node, other } = target;
  const hostile = HostileERC1155__factory.connect(contract, await node.provider.getSigner(4));
  await node.provider.send("evm_setAutomine", [false]);
  for (let sent = 0; sent < transactions; sent++)
    await hostile.spam(from, to, 1 + sent * moves, moves, logs, false, { gasLimit: 16_700_000 });
  await node.mine();
  await node.provider.send("evm_setAutomine", [true]);
  const { gasUsed = 0n } = (await node.provider.getBlock("latest")) ?? {};
  if (gasUsed >= BigInt(transactions) * 16_700_000n) throw new Error("the moves do not fit into their gas");
  const started = performance.now();
  const progress = { isStored: false };
  const stored = target.otherMints(FLOOD_TIMEOUT).finally(() => (progress.isStored = true));
  let slowest = 0;
  while (!progress.isStored) {
    const before = performance.now();
    await target.call(other, "POST", "/v1/accounts", {}, { timeout: FLOOD_TIMEOUT });
    slowest = Math.max(slowest, performance.now() - before);
    await wait(10);
  }
  await stored;
  const seconds = (milliseconds: number) => `${(milliseconds / 1_000).toFixed(1)} s`;
  return `${(Number(gasUsed) / 1e6).toFixed(0)} M gas, stored after ${seconds(performance.now() - started)}; slowest new wallet of another app: ${seconds(slowest)}`;
}

/** The app follows a contract that emits 90,000 moves in 18 logs of one block. */
async function floodFollowed(target: Target): Promise<() => Promise<string>> {
  const { attacker, node } = target;
  const signer = await node.provider.getSigner(4);
  const contract = await (await (await new HostileERC1155__factory(signer).deploy()).waitForDeployment()).getAddress();
  const wallet = await target.wallet(attacker);
  const state = async () => {
    const { contracts } = await target.ok<{ contracts: { state: string }[] }>(attacker, "GET", "/v1/contracts");
    return contracts[0]?.state ?? "not followed";
  };
  await target.ok(attacker, "GET", `/v1/accounts/${wallet}/${contract}`);
  while ((await state()) !== "followed") await node.mine();
  return async () =>
    `${await flood(target, contract, [signer.address, wallet], FLOOD)}; the contract is ${await state()}`;
}

/** The node puts the code of the mock in the place of the collection, which saves creating thousands of ids first. */
async function floodOwn(target: Target): Promise<() => Promise<string>> {
  const { attacker, node } = target;
  const [collection, wallet] = [await target.collection(attacker, { type: "ERC1155" }), await target.wallet(attacker)];
  const mock = await new HostileERC1155__factory(await node.provider.getSigner(4)).deploy();
  const code = await node.provider.getCode(await (await mock.waitForDeployment()).getAddress());
  await node.provider.send("anvil_setCode", [collection, code]);
  return async () => {
    const result = await flood(target, collection, [wallet, wallet], SELF_TRANSFERS);
    const { total } = await target.ok<{ total: number }>(attacker, "GET", `/v1/accounts/${wallet}/history?limit=1`);
    return `${result}; ${total.toString()} entries of the history`;
  };
}

/** An Anvil whose blocks have room for texts of 1 MiB in the state. */
function hugeBlocks(): Promise<NodeProcess> {
  return NodeProcess.anvil(["--gas-limit", "3000000000"]);
}

/** Small limits as they are by default: the rest of the attacks make more calls than these allow. */
const DEFAULT_RATES = { RATE_LIMIT_PER_MINUTE: "600", PUBLIC_RATE_LIMIT_PER_MINUTE: "6000" };

export const ATTACKS: readonly Attack[] = [
  { name: "36 mints with 64 KiB of `attributes` in one block", prepare: mintsInOneBlock(LARGEST) },
  { name: "36 mints with 8 MiB of `attributes` in one block", prepare: mintsInOneBlock(HUGE) },
  {
    name: "30 tokens of 2 MiB, or the largest accepted, in a wallet of another app, and 10 readers that do not read",
    prepare: async (target) => {
      const reader = { ...target.other, from: "127.0.0.3" };
      const wallet = await fillWallet(target, reader);
      return () => readNothing(target, reader, `/v1/accounts/${wallet}?limit=30`, 10);
    },
  },
  {
    name: "30 tokens with 64 KiB of control characters as `unlockable_content`, listed 20 times",
    prepare: async (target) => {
      const wallet = await fillWithControls(target);
      return () => listOften(target, wallet);
    },
  },
  { name: "50 mints with the number 1e999999999", prepare: mintLiteral("1e999999999") },
  { name: "50 mints with a number of 100,000 digits", prepare: mintLiteral("9".repeat(100_000)) },
  {
    name: "30 URIs of 512 KiB from an outside owner's contract, listed 20 times",
    node: hugeBlocks,
    prepare: listLargeUris,
  },
  { name: "A revoked token whose bodies, upload and event streams are open", prepare: useRevokedToken },
  { name: "500 slow readers of a file of 20 MiB at /ipfs", prepare: readFilesSlowly },
  { name: "3,000 open bodies of 1 MiB", prepare: sendBodiesSlowly },
  {
    name: "600 answers of 4 MiB that one app does not read",
    prepare: async (target) => {
      const wallet = await fillWithControls(target);
      return () => readNothing(target, target.attacker, `/v1/accounts/${wallet}?limit=10`, 600);
    },
  },
  { name: "48 uploads of 20 MiB at once", prepare: uploadMuch },
  { name: "3,500 calls with five tokens of one app", settings: DEFAULT_RATES, prepare: useFiveTokens },
  { name: "A flood of moves: 90,000 in 18 logs of a followed contract", prepare: floodFollowed },
  { name: "A flood of moves: a block of self transfers in an own ERC1155 collection", prepare: floodOwn },
  {
    name: "5,000 calls with unknown tokens from the other app's address",
    settings: DEFAULT_RATES,
    prepare: guessTokens,
  },
];
