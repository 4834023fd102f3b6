import { Transaction } from "ethers";

/** Whether a signed transaction does nothing but use its nonce: its account pays itself nothing. */
export function isEmpty(raw: string): boolean {
  const { from, to, data } = Transaction.from(raw);
  return from !== null && from === to && data === "0x";
}
