import { pbkdf2Sync, scrypt as nodeScrypt } from "node:crypto";
import { promisify } from "node:util";

import { computeAddress, decryptKeystoreJson, getBytes, isKeystoreJson, pbkdf2, scrypt } from "ethers";
import { z } from "zod";

import { faultOf } from "../../client/rules/storable.ts";
import { MAX_JSON_DEPTH } from "../config/limits.ts";
import { parseJson } from "../shared/text.ts";
import { faultOfUser, NOT_AN_ADDRESS, type TableRow, tableRows, walletAddress } from "./user-table.ts";

/** A row of keys. Nothing of it but `line` and `user` may be shown. */
export interface KeyRow {
  line: number;
  /** null: none was given, or it may be a secret in the wrong column. */
  user: string | null;
  /** The address that the row names; null: none. */
  given: string | null;
  secret: { privateKey: string } | { keystore: string; password: string };
  /** What is wrong with it by itself, without its contents; null: nothing. */
  fault: string | null;
}

const PRIVATE_KEY = /^(0x)?[0-9a-f]{64}$/i;

const text = z.string().trim().default("");
const document = z.record(z.string(), z.unknown()).refine((one) => faultOf(one, MAX_JSON_DEPTH) !== "depth");
const jsonRow = z.strictObject({
  user_identifier: text.nullable(),
  private_key: text,
  keystore: z.union([text, document.transform((one) => JSON.stringify(one))]),
  password: z.string().default(""),
  address: text,
});

/** @param input a table (CSV), or one JSON object in each line. @throws OperatorError when it is not a table. */
export function keyRows(input: string): KeyRow[] {
  if (!/^\uFEFF?\s*\{/.test(input))
    return tableRows(input, ["user_identifier", "private_key"], ["keystore", "password", "address"]).map(rowOf);
  return input.split("\n").flatMap((line, index) => {
    if (line.trim() === "") return [];
    const { success, data } = jsonRow.safeParse(parseJson(line.replace("\uFEFF", "")));
    const fault = success
      ? null
      : "The line is not a JSON object with user_identifier, private_key or keystore, password, address.";
    return [rowOf({ line: index + 1, cells: { ...data, user_identifier: data?.user_identifier ?? "" }, fault })];
  });
}

function rowOf({ line, cells, fault }: TableRow): KeyRow {
  const {
    user_identifier: user = "",
    private_key: privateKey = "",
    keystore = "",
    password = "",
    address = "",
  } = cells;
  const userFault = PRIVATE_KEY.test(user)
    ? "user_identifier: It looks like a private key. Check the columns."
    : user === ""
      ? null
      : faultOfUser(user);
  const given = walletAddress(address);
  const secretFault =
    (privateKey === "") === (keystore === "")
      ? "Give either private_key, or keystore and password."
      : keystore === "" && !PRIVATE_KEY.test(privateKey)
        ? "private_key: Must have 64 hex digits."
        : keystore !== "" && !isKeystoreJson(keystore)
          ? "keystore: Must be a keystore of version 3, as JSON."
          : null;
  return {
    line,
    user: user === "" || userFault !== null || fault !== null ? null : user,
    given,
    secret: keystore === "" ? { privateKey } : { keystore, password },
    fault: fault ?? userFault ?? (address !== "" && given === null ? NOT_AN_ADDRESS : null) ?? secretFault,
  };
}

/** A key, and the address (EIP-55) that it signs for. */
export interface OpenedKey {
  key: Uint8Array;
  address: string;
}

/** @returns what is wrong instead, without the contents. */
export async function openKey({ secret }: KeyRow): Promise<OpenedKey | { fault: string }> {
  if ("privateKey" in secret) {
    const hex = `0x${secret.privateKey.replace(/^0x/i, "")}`;
    return opened(hex) ?? { fault: "private_key: No account has this key." };
  }
  const account = await decryptKeystoreJson(secret.keystore, secret.password).catch((error: unknown) => {
    return error instanceof TooCostly ? error : null;
  });
  if (account instanceof TooCostly) return { fault: "keystore: Its scrypt or pbkdf2 would take too long." };
  return (
    (account && opened(account.privateKey)) ?? { fault: "keystore: The password does not open it, or it is damaged." }
  );
}

/** Who made a keystore chose what it costs to open it. */
class TooCostly extends Error {}
/** The usual costs are below a quarter of these, which take seconds. */
const [MOST_SCRYPT, MOST_ROUNDS] = [2 ** 23, 10_000_000];
/** Bytes. The usual keystores take 256 MiB. */
const SCRYPT_MEMORY = 1_100_000_000;

// Several times as fast as the one of ethers, and it does not block the process.
scrypt.register(async (password, salt, N, r, p, length) => {
  if (N * r * p > MOST_SCRYPT) throw new TooCostly();
  const options = { N, r, p, maxmem: SCRYPT_MEMORY };
  return promisify<Uint8Array, Uint8Array, number, object, Buffer>(nodeScrypt)(password, salt, length, options);
});
pbkdf2.register((password, salt, rounds, length, algorithm) => {
  if (rounds > MOST_ROUNDS) throw new TooCostly();
  return pbkdf2Sync(password, salt, rounds, length, algorithm);
});

function opened(hex: string): OpenedKey | null {
  try {
    return { key: getBytes(hex), address: computeAddress(hex) };
  } catch {
    return null;
  }
}
