import { damagedContent } from "../../commands/collect-media.ts";
import { type Check, ok, problem, some } from "../../doctor/check.ts";
import type { BlockFiles } from "../../ipfs/block-files.ts";

/** Reads every block of the content that metadata refers to. Asked for by `--media` alone: it takes its time. */
export function mediaCheck(blocks: BlockFiles): Check {
  return {
    name: "media",
    asksChain: false,
    run: async ({ database }) => {
      const damaged = await damagedContent({ database, blocks });
      if (damaged.size === 0) return [ok("every hosted block is there and whole")];
      return [...damaged].map(([cid, problems]) =>
        problem(
          `ipfs://${cid}: ${some(problems)}. Bring the files back from a backup, or have the same media copied again.`,
        ),
      );
    },
  };
}
