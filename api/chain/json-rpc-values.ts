import { z } from "zod";

import { checksumAddress } from "./checksum-address.ts";

/** Formats of values in JSON-RPC answers (Ethereum execution API). */

export const hex = z.string().regex(/^0x[0-9a-fA-F]*$/);
export const hash = z.string().regex(/^0x[0-9a-f]{64}$/);
export const quantity = z
  .string()
  .regex(/^0x[0-9a-f]+$/)
  .transform((text) => BigInt(text));
/** A quantity that fits a JavaScript number exactly. */
export const small = quantity.refine((value) => value <= BigInt(Number.MAX_SAFE_INTEGER)).transform(Number);
/** In checksum form (EIP-55). */
export const address = hex.length(42).transform((text) => checksumAddress(text));
