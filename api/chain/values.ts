import { getAddress, toQuantity, toUtf8String, Utf8ErrorFuncs } from "ethers";
import { z } from "zod";

import { remember } from "../shared/bounded-map.ts";

/** Formats of values in JSON-RPC answers (Ethereum execution API). */

export const hex = z.string().regex(/^0x[0-9a-fA-F]*$/);
export const hash = z.string().regex(/^0x[0-9a-f]{64}$/);
export const hexQuantity = z
  .string()
  .regex(/^0x[0-9a-f]+$/)
  .transform((text) => BigInt(text));
/** A quantity that fits a JavaScript number exactly. */
export const small = hexQuantity.refine((value) => value <= BigInt(Number.MAX_SAFE_INTEGER)).transform(Number);
/** In checksum form (EIP-55). */
export const address = hex.length(42).transform((text) => checksumAddress(text));

/** A block as a call names the state that it reads. A hash as in EIP-1898. */
export function stateAt(block: number | string | undefined): string | { blockHash: string } {
  if (block === undefined) return "latest";
  return typeof block === "string" ? { blockHash: block } : toQuantity(block);
}

/** Text from a foreign contract in a form that every database can store: well-formed Unicode without NUL. */
export function cleanText(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\ufffd");
}

/** Decodes UTF-8. Invalid bytes become the replacement character. */
export function textOfBytes(bytes: string): string {
  return cleanText(toUtf8String(bytes, Utf8ErrorFuncs.replace));
}

/** Addresses that are remembered. A range of blocks names the same few contracts and wallets again and again. */
const REMEMBERED = 10_000;

/** The checksum form (EIP-55) of an address, which costs a hash. @throws Error when it is not an address. */
export const checksumAddress = remember(REMEMBERED, (text: string) => getAddress(text));
