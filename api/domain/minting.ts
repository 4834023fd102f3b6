/** What must stay as it was confirmed so that the service mints into a contract of others. */
export interface MintingFacts {
  /** Keccak-256 of the contract's code. */
  code_hash: string;
  /** The contract whose code a proxy runs (EIP-1967, also through a beacon); null: it is no such proxy. */
  implementation: string | null;
  /** `owner()`; the zero address: it names none. */
  owner: string;
}

/** What has changed, in words; null: nothing. */
export function changeOf(confirmed: MintingFacts, now: MintingFacts): string | null {
  if (confirmed.code_hash !== now.code_hash) return "The code of the contract has changed.";
  if (confirmed.implementation !== now.implementation)
    return `The contract runs the code of ${now.implementation ?? "no other contract"} now, and of ${confirmed.implementation ?? "no other contract"} before.`;
  if (confirmed.owner !== now.owner) return `The contract has a new owner: ${now.owner}.`;
  return null;
}
