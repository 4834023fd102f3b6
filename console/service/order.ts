/** By the creation of the items of a listing: which come first. */
export type Order = "newest" | "oldest";
