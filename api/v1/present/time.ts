import { remember } from "../../shared/recent.ts";

/**
 * Formatting a time is slow, and the tokens of a page often have the same: that of their block.
 * @param milliseconds since 1970.
 */
export const isoTime = remember(1_024, (milliseconds: number) => new Date(milliseconds).toISOString());
