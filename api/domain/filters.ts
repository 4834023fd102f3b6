/** Longest `search`, in characters. The indexes of migrations 0013 and 0015 have this many characters of each text. */
export const MAX_SEARCH_LENGTH = 64;

/**
 * Most traits of one token by which it can be found, and the longest `trait_type` and `value` of one, in characters. Migration
 * 0014 found the traits of earlier tokens by these figures.
 */
export const MAX_INDEXED_TRAITS = 32;
export const MAX_TRAIT_LENGTH = 256;
