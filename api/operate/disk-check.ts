import { type Check, type Finding, ok, problem, warning } from "./doctor/check.ts";
import { type DiskSpace, readDisk } from "../shared/disk.ts";

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
