/** Encodes by RLP, the format of transactions, headers and receipts. */

export const EMPTY = Buffer.alloc(0);

/** A string of RLP. */
export function item(content: Buffer): Buffer {
  const [first] = content;
  if (content.length === 1 && first !== undefined && first < 0x80) return content;
  return Buffer.concat([prefix(content.length, 0x80), content]);
}

/** A list of RLP. */
export function list(items: readonly Buffer[]): Buffer {
  const content = Buffer.concat(items);
  return Buffer.concat([prefix(content.length, 0xc0), content]);
}

function prefix(length: number, base: number): Buffer {
  if (length < 56) return Buffer.of(base + length);
  const size = quantity(BigInt(length));
  return Buffer.concat([Buffer.of(base + 55 + size.length), size]);
}

/** A number as RLP wants it: without leading zeros, and 0 as no bytes at all. */
export function quantity(value: bigint): Buffer {
  if (value < 0n) throw new RangeError(`RLP cannot encode the negative number ${value.toString()}`);
  if (value === 0n) return EMPTY;
  const digits = value.toString(16);
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, "hex");
}

/** The bytes of a hex text. @throws TypeError */
export function bytes(hex: string): Buffer {
  const content = Buffer.from(hex.slice(2), "hex");
  if (!hex.startsWith("0x") || content.length * 2 + 2 !== hex.length) throw new TypeError("bytes are not valid hex");
  return content;
}
