import { damagedContent, missingFiles } from "./collect-media.ts";
import { type Check, ok, problem, some } from "./doctor/check.ts";
import { plural } from "../shared/plural.ts";
import type { BlockStore } from "../content/block-store.ts";
import { readMediaPlace } from "../store/media/media-store.ts";

const ADVICE = "Restore the files from a backup, or send requests that copy the same media again.";

/** The block store works, and has the hosted content. */
export function storeCheck(blocks: BlockStore): Check {
  return {
    name: "store",
    asksChain: false,
    run: async ({ database }) => {
      const { store, movingFrom } = await readMediaPlace(database.read);
      if (movingFrom !== null)
        return [problem(`A move of the media from ${movingFrom} is unfinished: run \`media move\` again.`)];
      if (store !== null && store !== blocks.name)
        return [problem(`Hosted media are in ${store}, but MEDIA_STORE says ${blocks.name}: correct MEDIA_STORE.`)];
      const fault = await blocks.problem();
      return [fault === null ? ok(`media can be stored and read (${blocks.name})`) : problem(fault)];
    },
  };
}

/** The files of all hosted content exist. */
export function filesCheck(blocks: BlockStore): Check {
  return {
    name: "media",
    asksChain: false,
    run: async ({ database }) => {
      const { files, missing } = await missingFiles({ database, blocks });
      if (missing.length > 0) return [problem(`Missing: ${some(missing.map((cid) => `ipfs://${cid}`))}. ${ADVICE}`)];
      return [ok(`${plural(files, "hosted file exists", "hosted files exist")} (--media also reads the content)`)];
    },
  };
}

/** Reads every block of the content that metadata refers to. Runs only with `--media`, because it is slow. */
export function mediaCheck(blocks: BlockStore): Check {
  return {
    name: "media",
    asksChain: false,
    run: async ({ database }) => {
      const damaged = await damagedContent({ database, blocks });
      if (damaged.size === 0) return [ok("every hosted block exists and matches its checksum")];
      return [...damaged].map(([cid, problems]) => problem(`ipfs://${cid}: ${some(problems)}. ${ADVICE}`));
    },
  };
}
