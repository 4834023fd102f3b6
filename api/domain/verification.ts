/** How far a verifier has the sources of a collection's contract, best first. `failed`: it was asked, and does not have them. */
export const VERIFIED = ["exact", "match", "implementation", "failed"] as const;
export type Verified = (typeof VERIFIED)[number];
