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
    const sum = new Sum();
    for await (const chunk of source) {
      sum.add(chunk);
      await handle.writeFile(chunk);
    }
    await handle.sync();
    return sum.digest();
  } finally {
    await handle.close();
  }
}

/** Reads a regular file. A symbolic link is refused, so that a folder from elsewhere cannot name files outside of it. */
export async function* readRegular(file: string): AsyncGenerator<Uint8Array> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW);
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
export async function hashFile(file: string): Promise<Digest> {
  const sum = new Sum();
  for await (const chunk of readRegular(file)) sum.add(chunk);
  return sum.digest();
}

class Sum {
  readonly #hash = createHash("sha256");
  #bytes = 0;

  add(chunk: Uint8Array): void {
    this.#hash.update(chunk);
    this.#bytes += chunk.length;
  }

  digest(): Digest {
    return { bytes: this.#bytes, sha256: this.#hash.digest("hex") };
  }
}
