import { readFile, writeFile } from "node:fs/promises";

/** Resident memory of a process, in MiB. */
export interface Resident {
  now: number;
  /** The most that it has had. */
  peak: number;
}

const KIB_PER_MIB = 1_024;

/** Reads what Linux reports. @returns null on other systems. */
export async function residentOf(pid: number): Promise<Resident | null> {
  if (process.platform !== "linux") return null;
  const status = await readFile(`/proc/${pid.toString()}/status`, "utf8");
  const read = (name: string) => {
    const [, kib] = new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status) ?? [];
    if (kib === undefined) throw new Error(`the system does not report ${name}`);
    return Number(kib) / KIB_PER_MIB;
  };
  return { now: read("VmRSS"), peak: read("VmHWM") };
}

/** From now on, the peak counts. Linux forgets the earlier one. */
export async function resetPeak(pid: number): Promise<void> {
  if (process.platform === "linux") await writeFile(`/proc/${pid.toString()}/clear_refs`, "5");
}
