/** Largest token id: uint256. */
export const MAX_TOKEN_ID = 2n ** 256n - 1n;
/** By this id, thirdweb's TokenERC1155 makes the next one. */
export const NEXT_ID = MAX_TOKEN_ID.toString();
/** Largest quantity of an ERC1155 id, per request and in total: uint128. */
export const MAX_QUANTITY = 2n ** 128n - 1n;

/** A decimal number with so many digits is always a safe integer. */
const SAFE_DIGITS = 15;

/** A token id or quantity in an answer: an integer while JSON parsers keep it exact, a decimal string above that. */
export function toWireInteger(value: string | bigint): number | string {
  if (typeof value === "string" && value.length <= SAFE_DIGITS) return Number(value);
  const exact = BigInt(value);
  return exact <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(exact) : exact.toString();
}

/** Names a token. */
export interface TokenKey {
  contract: string;
  tokenId: string;
}

/** Names a holding: a wallet and a token. */
export interface HoldingKey extends TokenKey {
  owner: string;
}

/** One transfer of copies of one token, and its place on the chain. */
export interface TokenMove extends TokenKey {
  quantity: string;
  /** null: minted. */
  from: string | null;
  /** null: burnt. */
  to: string | null;
  transactionHash: string;
  blockNumber: number;
  logIndex: number;
  /** Position inside its log: an ERC-1155 batch transfers several ids. */
  subIndex: number;
}

/** A token as the key of a map. */
export function tokenKey({ contract, tokenId }: TokenKey): string {
  return `${contract}/${tokenId}`;
}

/** A holding as the key of a map. */
export function holdingKey({ contract, tokenId, owner }: HoldingKey): string {
  return `${contract}/${tokenId}/${owner}`;
}
