/** A step of the rehearsal, and what it showed. */
export interface Finding {
  what: string;
  /** What was seen; null: it could not be tried here. */
  result: string | null;
}

/** How long a rehearsal waits for a program, and how often it looks, in milliseconds. */
export const PATIENCE = { within: 300_000, every: 100 };

export function notInstalled(what: string, program: string, debianPackage: string): Finding {
  return { what: `${what} (needs ${program}: Debian's package ${debianPackage})`, result: null };
}

/** @throws when what was seen is not what the documents say. */
export function require(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Error(otherwise);
}
