import type { KyselyPlugin } from "kysely";

/** Counts the statements of the databases that have the plugin. @returns it, and how many ran since the last call of `taken`. */
export function statementCounter(): { plugin: KyselyPlugin; taken: () => number } {
  let count = 0;
  return {
    plugin: {
      transformQuery: ({ node }) => node,
      // A statement that is compiled once is still run each time.
      transformResult: ({ result }) => {
        count++;
        return Promise.resolve(result);
      },
    },
    taken: () => {
      const before = count;
      count = 0;
      return before;
    },
  };
}
