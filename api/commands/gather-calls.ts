import { Gather } from "../shared/gather.ts";
import { DatabaseUnavailable } from "../store/db/errors.ts";

/**
 * Gathers calls that use the database together. While the database is unavailable, the calls of a group fail together:
 * alone, each would wait for it again, and a commit whose answer was lost must not run a second time.
 */
export function gatherCalls<In, Out>(
  handle: (calls: In[]) => Promise<Out[]>,
  start?: (drain: () => void) => void,
): Gather<In, Out> {
  return new Gather(handle, start, (error) => error instanceof DatabaseUnavailable);
}
