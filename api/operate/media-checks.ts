import type { BlockStore } from "../content/block-store.ts";
import { type DiskSpace, readDisk } from "../shared/folder.ts";
import { plural } from "../shared/text.ts";
import { readMediaPlace } from "../store/media/media-store.ts";
import { type Check, type Finding, ok, problem, some, warning } from "../checks/check.ts";
import { damagedContent, missingFiles } from "./media/collect.ts";

const MIB = 2 ** 20;
/** An operator should make room when less than this part of the disk, and less than so many bytes, are free. */
const LITTLE = { part: 0.1, bytes: 10 * 1024 * MIB };
/** With less, the next writes fail. */
const NOTHING = 50 * MIB;

/** The disk of DATA_DIR has room. */
export function diskCheck(dataDir: string): Check {
  return { name: "disk", asksChain: false, run: async () => [judgeDisk(await readDisk(dataDir))] };
}

export function judgeDisk({ used, free }: DiskSpace): Finding {
  const part = free / (used + free);
  const [size, percent] = [Math.floor(free / MIB).toString(), Math.floor(part * 100).toString()];
  const words = `${size} MiB (${percent} %) of the disk of DATA_DIR are free`;
  const advice = "Make room, or enlarge the disk.";
  if (free < NOTHING) return problem(`The disk is full: ${words}. ${advice}`);
  if (part < LITTLE.part && free < LITTLE.bytes) return warning(`Only ${words}. ${advice}`);
  return ok(words);
}

const ADVICE = "Restore the files from a backup, or send requests that copy the same media again.";

/** The block store works, and has the hosted content. */
export function storeCheck(blocks: BlockStore): Check {
  return {
    name: "store",
    asksChain: false,
    run: async ({ database }) => {
      const { store, movingFrom } = await readMediaPlace(database.read);
      if (movingFrom !== null)
        return problem(`A move of the media from ${movingFrom} is unfinished: run \`media move\` again.`);
      if (store !== null && store !== blocks.name)
        return problem(`Hosted media are in ${store}, but MEDIA_STORE says ${blocks.name}: correct MEDIA_STORE.`);
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
      if (missing.length > 0) return problem(`Missing: ${some(missing.map((cid) => `ipfs://${cid}`))}. ${ADVICE}`);
      return ok(`${plural(files, "hosted file exists", "hosted files exist")} (--media also reads the content)`);
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
      if (damaged.size === 0) return ok("every hosted block exists and matches its checksum");
      return [...damaged].map(([cid, problems]) => problem(`ipfs://${cid}: ${some(problems)}. ${ADVICE}`));
    },
  };
}
