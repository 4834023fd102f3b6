import { readFile } from "node:fs/promises";

import { generateKeyPair, privateKeyFromProtobuf, privateKeyToProtobuf } from "@libp2p/crypto/keys";
import type { PrivateKey } from "@libp2p/interface";

import { writeNewFile } from "../shared/write-new-file.ts";

/** The file of the node's private key cannot be used. The words name the file and never what is in it. */
export class IdentityFileError extends Error {
  override readonly name = "IdentityFileError";
}

/**
 * The private key by which other nodes know this one. It is made at the first start: announcements name the peer id that
 * follows from it, and would lead nowhere if the next start had another.
 * @throws IdentityFileError
 */
export async function loadIdentity(file: string): Promise<PrivateKey> {
  const known = await readIfThere(file);
  if (known !== null) return parse(file, known);
  const key = await generateKeyPair("Ed25519");
  if (await writeNewFile(file, `${Buffer.from(privateKeyToProtobuf(key)).toString("base64")}\n`)) return key;
  // Another process was faster.
  return parse(file, (await readIfThere(file)) ?? "");
}

function parse(file: string, text: string): PrivateKey {
  try {
    return privateKeyFromProtobuf(Buffer.from(text.trim(), "base64"));
  } catch {
    // The cause may quote the file, so it is left out.
    throw new IdentityFileError(`The file ${file} does not hold the key of an IPFS node. Restore it, or move it away.`);
  }
}

async function readIfThere(file: string): Promise<string | null> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "?";
    if (code === "ENOENT") return null;
    throw new IdentityFileError(`The file ${file} cannot be read (${code}).`);
  }
}
