import { readFile } from "node:fs/promises";

import { generateKeyPair, privateKeyFromProtobuf, privateKeyToProtobuf } from "@libp2p/crypto/keys";
import type { PrivateKey } from "@libp2p/interface";

import { writeNewFile } from "../../shared/write-new-file.ts";

/** Thrown when the file of the node's private key cannot be used. The message never contains its content. */
export class IdentityFileError extends Error {
  override readonly name = "IdentityFileError";
}

/**
 * The private key of the node, made at the first start. The peer id is derived from it and is part of every announcement, so
 * the key must stay the same.
 * @throws IdentityFileError
 */
export async function loadIdentity(file: string): Promise<PrivateKey> {
  const known = await readIfThere(file);
  if (known !== null) return parse(file, known);
  const key = await generateKeyPair("Ed25519");
  if (await writeNewFile(file, `${Buffer.from(privateKeyToProtobuf(key)).toString("base64")}\n`)) return key;
  // Another process has written the file meanwhile.
  return parse(file, (await readIfThere(file)) ?? "");
}

function parse(file: string, text: string): PrivateKey {
  try {
    return privateKeyFromProtobuf(Buffer.from(text.trim(), "base64"));
  } catch {
    // Without the cause, which may quote the file.
    throw new IdentityFileError(
      `The file ${file} does not contain the key of an IPFS node. Restore it from a backup, or move it away to get a new key.`,
    );
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
