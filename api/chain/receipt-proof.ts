import { isDeepStrictEqual } from "node:util";

import { keccak256 } from "ethers";
import { z } from "zod";

import { remember } from "../shared/bounded-map.ts";
import { mapInSlices, Slices } from "../shared/in-slices.ts";
import { parseLogs, type RawLog } from "./query-logs.ts";
import { bytes, EMPTY, item, list, quantity } from "./rlp.ts";
import { address, hash, hex, hexQuantity, small } from "./values.ts";

/*
 * What a node says about a block is proven in two steps. The hash of a block is the hash of its header, and the header has the
 * root of the receipts. Both are computed here from the node's answers, by the rules of Ethereum and of the OP Stack.
 */

/**
 * The check failed, and the block has a field or a type that this file does not know: its chain has other rules. So this proves
 * nothing about the node.
 */
export class UnknownFormat extends Error {
  override readonly name = "UnknownFormat";
}

/** The check failed for a block of a known format: the node's answers contradict each other. */
export class NotProven extends Error {
  override readonly name = "NotProven";
}

const bloom = hex.length(2 + 2 * 256);

/** The fields of a header, in their order. */
const HEADER = {
  parentHash: hash,
  sha3Uncles: hash,
  miner: address,
  stateRoot: hash,
  transactionsRoot: hash,
  receiptsRoot: hash,
  logsBloom: bloom,
  difficulty: hexQuantity,
  number: hexQuantity,
  gasLimit: hexQuantity,
  gasUsed: hexQuantity,
  timestamp: hexQuantity,
  extraData: hex,
  mixHash: hash,
  nonce: hex.length(18),
} as const;

/** Fields that forks have added, in their order: London, Shanghai, Cancun, Prague, Amsterdam. A block has the first few of them. */
const ADDED = {
  baseFeePerGas: hexQuantity,
  withdrawalsRoot: hash,
  blobGasUsed: hexQuantity,
  excessBlobGas: hexQuantity,
  parentBeaconBlockRoot: hash,
  requestsHash: hash,
  blockAccessListHash: hash,
  slotNumber: hexQuantity,
} as const;

const header = z.object({ ...HEADER, ...z.object(ADDED).partial().shape });
const identified = z.object({ hash, number: small, parentHash: hash });

/** What nodes show of a block beside its header. */
const BESIDE: ReadonlySet<string> = new Set([
  "hash",
  "size",
  "totalDifficulty",
  "transactions",
  "uncles",
  "withdrawals",
  // Nethermind, Erigon
  "author",
]);

/** A header whose fields give the hash of its block. */
export interface ProvenHeader {
  number: number;
  hash: string;
  parentHash: string;
  receiptsRoot: string;
  /** 256 bytes. */
  logsBloom: Buffer;
  gasUsed: bigint;
}

const said = identified.extend({ receiptsRoot: hash, logsBloom: bloom, gasUsed: hexQuantity });

/**
 * What nodes say of a header that has fields of a later version. Two nodes that say the same of the same hash are as good as a
 * proven header: the receipts are then proven by that root.
 * @throws UnknownFormat
 */
export function agreedHeader(answer: unknown, other: unknown): ProvenHeader {
  const [one, two] = [said.safeParse(answer), said.safeParse(other)];
  if (!one.success || !two.success || !isDeepStrictEqual(one.data, two.data))
    throw new UnknownFormat("another node does not say the same of the header");
  return { ...one.data, logsBloom: bytes(one.data.logsBloom) };
}

/** @param answer a block as the node shows it. @throws NotProven, UnknownFormat */
export function proveHeader(answer: unknown): ProvenHeader {
  const known = identified.safeParse(answer);
  if (!known.success) throw new NotProven("the node's block is not valid by the Ethereum JSON-RPC specification");
  const name = `block ${known.data.number.toString()}`;
  const fields = header.safeParse(answer);
  const unknown = Object.keys(answer as object).find((key) => !(key in HEADER) && !(key in ADDED) && !BESIDE.has(key));
  if (!fields.success) {
    const field = fields.error.issues[0]?.path.join(".") ?? "?";
    throw new UnknownFormat(`the header of ${name} lacks the field ${field}, or has it in another form`);
  }
  const added = Object.keys(ADDED).map((key) => fields.data[key as keyof typeof ADDED]);
  const count = added.findIndex((value) => value === undefined);
  const present = count < 0 ? added : added.slice(0, count);
  const values = [...Object.keys(HEADER).map((key) => fields.data[key as keyof typeof HEADER]), ...present];
  const encoded = list(values.map((value) => item(typeof value === "bigint" ? quantity(value) : bytes(value ?? "0x"))));
  const { receiptsRoot, logsBloom, gasUsed } = fields.data;
  if (keccak256(encoded) === known.data.hash)
    return { ...known.data, receiptsRoot, gasUsed, logsBloom: bytes(logsBloom) };
  if (unknown !== undefined)
    throw new UnknownFormat(`the header of ${name} has the field ${unknown}, which this version does not know`);
  throw new NotProven(`the fields of ${name} do not give its hash`);
}

/** Legacy, and EIP-2930, 1559, 4844, 7702. */
const TYPES: ReadonlySet<number> = new Set([0, 1, 2, 3, 4]);
/** Deposits of the OP Stack. */
const DEPOSIT = 0x7e;

const receipt = z.object({
  type: small.default(0),
  status: small.refine((value) => value < 2),
  cumulativeGasUsed: hexQuantity,
  logsBloom: bloom,
  logs: z.array(z.unknown()),
  transactionHash: hash,
  transactionIndex: small,
  blockHash: hash,
  depositNonce: hexQuantity.nullish(),
  depositReceiptVersion: hexQuantity.nullish(),
});

/** What the receipts of a block prove. */
export interface ProvenLogs {
  logs: RawLog[];
  /**
   * Logs of receipts that are not part of the root. Some chains show such receipts, for example for what their bridge does
   * (Polygon PoS). Nothing proves them.
   */
  outside: RawLog[];
}

/**
 * The logs of a block, in order, from receipts that give the root of its header. The hashes of transactions are not part of
 * receipts: they are as the node says.
 * @param parts the receipts of the block, in order, as the node shows them. @param keep which logs are wanted.
 * @throws NotProven, UnknownFormat
 */
export async function proveLogs(
  of: ProvenHeader,
  parts: AsyncIterable<readonly unknown[]> | Iterable<readonly unknown[]>,
  keep: (log: RawLog) => boolean = () => true,
): Promise<ProvenLogs> {
  const name = `block ${of.number.toString()}`;
  const read: { type: number; encoded: Buffer; logs: RawLog[]; usesGas: boolean }[] = [];
  let gas = 0n;
  for await (const part of parts) {
    const receipts = await mapInSlices(part, (answer, index) => readReceipt(of, answer, read.length + index));
    const slices = new Slices();
    for (const one of receipts) {
      const { type, cumulativeGasUsed } = one;
      const logs = (await logsOf(of, one)).filter(keep);
      await slices.next();
      read.push({ type, encoded: encodeReceipt(one), logs, usesGas: cumulativeGasUsed > gas });
      if (cumulativeGasUsed > gas) gas = cumulativeGasUsed;
    }
  }
  const proves = async (some: typeof read) => (await trieRoot(some.map(({ encoded }) => encoded))) === of.receiptsRoot;
  if (await proves(read)) return { logs: read.flatMap(({ logs }) => logs), outside: [] };
  // Each transaction of a block uses gas. What uses none is not one of them.
  const [within, without] = [read.filter(({ usesGas }) => usesGas), read.filter(({ usesGas }) => !usesGas)];
  if (without.length > 0 && (await proves(within)))
    return { logs: within.flatMap(({ logs }) => logs), outside: without.flatMap(({ logs }) => logs) };
  const unknown = read.map(({ type }) => type).find((type) => !TYPES.has(type) && type !== DEPOSIT);
  if (unknown !== undefined)
    throw new UnknownFormat(
      `${name} has a receipt of type 0x${unknown.toString(16)}, which this version does not know`,
    );
  throw new NotProven(`the receipts of ${name} do not give the root in its header`);
}

type ShownReceipt = z.infer<typeof receipt>;

function readReceipt(of: ProvenHeader, answer: unknown, index: number): ShownReceipt {
  const name = `block ${of.number.toString()}`;
  const parsed = receipt.safeParse(answer);
  if (!parsed.success) {
    const field = parsed.error.issues[0]?.path.join(".") ?? "?";
    throw new UnknownFormat(`a receipt of ${name} lacks the field ${field}, or has it in another form`);
  }
  if (parsed.data.transactionIndex !== index || parsed.data.blockHash !== of.hash)
    throw new NotProven(`the receipts are not those of ${name}, or not in their order`);
  return parsed.data;
}

async function logsOf(of: ProvenHeader, { logs, transactionHash }: ShownReceipt): Promise<RawLog[]> {
  const name = `block ${of.number.toString()}`;
  const parsed = await parseLogs(logs);
  if (parsed === null) throw new NotProven(`a receipt of ${name} has a log that is not valid`);
  if (parsed.some((log) => log.transactionHash !== transactionHash || log.blockHash !== of.hash))
    throw new NotProven(`a receipt of ${name} has the log of another transaction`);
  return parsed;
}

const rawLogs = z.array(z.object({ address: hex, topics: z.array(hex), data: hex }));

function encodeReceipt(of: ShownReceipt): Buffer {
  const logs = rawLogs.parse(of.logs).map(({ address: contract, topics, data }) => {
    const fields = [item(bytes(contract)), list(topics.map((topic) => item(bytes(topic)))), item(bytes(data))];
    return list(fields);
  });
  const { type, depositNonce: nonce, depositReceiptVersion: version } = of;
  // Without a version (before Canyon), the nonce is shown, but is not part of the root.
  const deposit = type === DEPOSIT && nonce != null && version != null ? [nonce, version] : [];
  const encoded = list([
    item(quantity(BigInt(of.status))),
    item(quantity(of.cumulativeGasUsed)),
    item(bytes(of.logsBloom)),
    list(logs),
    ...deposit.map((value) => item(quantity(value))),
  ]);
  return type === 0 ? encoded : Buffer.concat([Buffer.of(type), encoded]);
}

interface Entry {
  /** Half bytes. */
  key: Buffer;
  value: Buffer;
}

/**
 * The root of a Merkle Patricia trie with the values at the keys 0, 1, 2 and so on. Nothing of it is kept. Written here, because
 * the trie libraries store each node in a database, which takes several times as long.
 */
export async function trieRoot(values: readonly Buffer[]): Promise<string> {
  if (values.length === 0) return keccak256(item(EMPTY));
  const entries = values.map((value, index) => ({ key: halves(item(quantity(BigInt(index)))), value }));
  entries.sort((a, b) => Buffer.compare(a.key, b.key));
  return keccak256(await trieNode(entries, 0, new Slices()));
}

/** @param entries sorted, at least one. No key begins with another one. @param depth half bytes that all keys share. */
async function trieNode(entries: readonly Entry[], depth: number, slices: Slices): Promise<Buffer> {
  await slices.next();
  const [first, last] = [entries[0], entries.at(-1)];
  if (first === undefined || last === undefined) throw new Error("a node of the trie has no entry");
  if (entries.length === 1) return list([item(packed(first.key.subarray(depth), true)), item(first.value)]);
  let shared = depth;
  while (first.key[shared] === last.key[shared]) shared += 1;
  if (shared > depth) {
    const below = reference(await trieNode(entries, shared, slices));
    return list([item(packed(first.key.subarray(depth, shared), false)), below]);
  }
  const children: Buffer[] = [];
  for (let half = 0; half < 16; half++) {
    const below = entries.filter(({ key }) => key[depth] === half);
    children.push(below.length === 0 ? item(EMPTY) : reference(await trieNode(below, depth + 1, slices)));
  }
  return list([...children, item(EMPTY)]);
}

function reference(node: Buffer): Buffer {
  return node.length < 32 ? node : item(bytes(keccak256(node)));
}

function halves(key: Buffer): Buffer {
  return Buffer.from([...key].flatMap((byte) => [byte >> 4, byte & 15]));
}

/** A part of a key as bytes. The first half byte says whether a value follows, and whether the number of the others is odd. */
function packed(part: Buffer, isLeaf: boolean): Buffer {
  const odd = part.length % 2;
  const all = [(isLeaf ? 2 : 0) + odd, ...(odd === 1 ? [] : [0]), ...part];
  return Buffer.from(all.flatMap((half, index) => (index % 2 === 0 ? [half * 16 + (all[index + 1] ?? 0)] : [])));
}

/** Values whose bits are remembered: the same contracts are looked for in each block. */
const REMEMBERED = 10_000;

/** The three bits of a value in the bloom of a header. */
export const bloomBits = remember(REMEMBERED, (value: string): number[] => {
  const digest = bytes(keccak256(value));
  return [0, 2, 4].map((at) => digest.readUInt16BE(at) & 2047);
});

/** Whether a block with this bloom may have logs with a value. False: it has none. */
export function mayHave(logsBloom: Buffer, bits: readonly number[]): boolean {
  return bits.every((bit) => ((logsBloom[255 - (bit >> 3)] ?? 0) & (1 << (bit & 7))) !== 0);
}
