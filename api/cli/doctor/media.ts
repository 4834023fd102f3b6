import { damagedContent, missingFiles } from "../../operator/collect-media.ts";
import { type Check, ok, problem, some } from "../../doctor/check.ts";
import type { BlockFiles } from "../../ipfs/block-files.ts";

const MEND = "Bring the files back from a backup, or have the same media copied again.";

/** Whether what was stored is there at all. */
export function filesCheck(blocks: BlockFiles): Check {
  return {
    name: "media",
    asksChain: false,
    run: async ({ database }) => {
      const { files, missing } = await missingFiles({ database, blocks });
      if (missing.length > 0) return [problem(`${some(missing.map((cid) => `ipfs://${cid}`))}: missing. ${MEND}`)];
      return [ok(`${files.toString()} hosted files are there (--media reads them)`)];
    },
  };
}

/** Reads every block of the content that metadata refers to. Asked for by `--media` alone: it takes its time. */
export function mediaCheck(blocks: BlockFiles): Check {
  return {
    name: "media",
    asksChain: false,
    run: async ({ database }) => {
      const damaged = await damagedContent({ database, blocks });
      if (damaged.size === 0) return [ok("every hosted block is there and whole")];
      return [...damaged].map(([cid, problems]) => problem(`ipfs://${cid}: ${some(problems)}. ${MEND}`));
    },
  };
}
