import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open } from "node:fs/promises";

/** Length and SHA-256 (hex) of bytes. */
export interface Digest {
  bytes: number;
  sha256: string;
}

/** Bytes that are read at once. */
const CHUNK = 1 << 20;

/**
 * Writes a new file that only its owner can read. When this resolves, its bytes are on disk.
 * @throws when the file exists.
 */
export async function writeHashed(file: string, source: AsyncIterable<Uint8Array>): Promise<Digest> {
  const handle = await open(file, "wx", 0o600);
  try {
    const digest = await digestOf(source, (chunk) => handle.writeFile(chunk));
    await handle.sync();
    return digest;
  } finally {
    await handle.close();
  }
}

/**
 * Reads a regular file. A symbolic link is refused, so that a folder from elsewhere cannot name files outside of it. A pipe is not
 * waited for.
 */
export async function* readRegular(file: string): AsyncGenerator<Uint8Array> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    if (!(await handle.stat()).isFile()) throw new NotRegular(file);
    for (;;) {
      const { bytesRead, buffer } = await handle.read({ buffer: Buffer.allocUnsafe(CHUNK) });
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}

/** Thrown when a file is a folder, a device or a pipe. */
export class NotRegular extends Error {
  override readonly name = "NotRegular";

  constructor(file: string) {
    super(`${file} is not a regular file`);
  }
}

/** Reads a file to its end. */
export function hashFile(file: string): Promise<Digest> {
  return digestOf(readRegular(file));
}

async function digestOf(
  source: AsyncIterable<Uint8Array>,
  use: (chunk: Uint8Array) => Promise<void> = () => Promise.resolve(),
): Promise<Digest> {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of source) {
    hash.update(chunk);
    bytes += chunk.length;
    await use(chunk);
  }
  return { bytes, sha256: hash.digest("hex") };
}
