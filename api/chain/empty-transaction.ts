import { Transaction } from "ethers";

/** Whether a signed transaction only uses up its nonce: the account sends itself nothing. */
export function isEmpty(raw: string): boolean {
  const { from, to, data } = Transaction.from(raw);
  return from !== null && from === to && data === "0x";
}
