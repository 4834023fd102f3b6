import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { type IncomingMessage, request as open } from "node:http";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";

import { sqliteFiles } from "./harness/databases.ts";
import { World } from "./harness/world.ts";

/**
 * `npm run bench:upload`: uploads 200 MiB to a service in a process of its own, then as many such files at once as one app may,
 * and prints the resident memory of that process. `MEDIA_STORE` names the place, as for the service. The memory is read from
 * /proc, so this needs Linux.
 */

const MIB = 1_048_576;
const SIZE = 200 * MIB;
const AT_ONCE = 8;
/** How much the peak may lie above the memory before the first upload, in MiB: for one upload, and for several. */
const LIMITS = { one: 150, several: 300 };

/** Different bytes for every name, because equal blocks are stored once. */
function* bytesOf(name: string): Generator<Buffer> {
  const noise = randomBytes(MIB);
  for (let sent = 0; sent < SIZE; sent += MIB) {
    const chunk = Buffer.from(noise);
    chunk.write(name.padEnd(64));
    chunk.writeUInt32LE(sent / MIB, 64);
    yield chunk;
  }
}

async function upload({ urls, token }: World, name: string): Promise<void> {
  const call = open(`${urls[0] ?? ""}/v1/media`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-length": SIZE.toString() },
  });
  const answered = once(call, "response") as Promise<[IncomingMessage]>;
  await pipeline(Readable.from(bytesOf(name), { objectMode: true }), call);
  const [response] = await answered;
  const body = await text(response);
  if (response.statusCode !== 200 || (JSON.parse(body) as { bytes: number }).bytes !== SIZE) {
    throw new Error(`The upload was answered with ${String(response.statusCode)}: ${body}`);
  }
}

/** Resident memory in MiB: now, or the peak. */
async function memory(pid: number, field: "VmRSS" | "VmHWM"): Promise<number> {
  const status = await readFile(`/proc/${pid.toString()}/status`, "utf8");
  return Math.round(Number(new RegExp(`^${field}:\\s*(\\d+)`, "m").exec(status)?.[1]) / 1024);
}

/** Makes the kernel measure the peak anew. */
async function resetPeak(pid: number): Promise<void> {
  await writeFile(`/proc/${pid.toString()}/clear_refs`, "5");
}

async function measure(pid: number, label: string, bytes: number, work: () => Promise<unknown>): Promise<number> {
  await resetPeak(pid);
  const before = await memory(pid, "VmRSS");
  const started = performance.now();
  await work();
  const seconds = (performance.now() - started) / 1000;
  const [peak, after] = [await memory(pid, "VmHWM"), await memory(pid, "VmRSS")];
  const rate = Math.round(bytes / MIB / seconds).toString();
  const figures = [before, peak, after].map((one) => `${one.toString()} MiB`.padStart(9));
  console.log(`${label.padEnd(24)}${seconds.toFixed(1).padStart(6)} s ${rate.padStart(5)} MiB/s ${figures.join(" ")}`);
  return peak;
}

const settings = { MAX_MEDIA_BYTES: SIZE.toString(), MEDIA_STORE: process.env["MEDIA_STORE"] ?? "files" };
const world = await World.start({ databases: sqliteFiles, settings });
try {
  const pid = world.processes[0]?.pid ?? 0;
  console.log(
    `${"".padEnd(24)}${"".padStart(19)}${["before", "peak", "after"].map((word) => word.padStart(10)).join("")}`,
  );
  const before = await memory(pid, "VmRSS");
  const one = await measure(pid, "200 MiB", SIZE, () => upload(world, "one"));
  const several = await measure(pid, `${AT_ONCE.toString()} x 200 MiB at once`, AT_ONCE * SIZE, () =>
    Promise.all(Array.from({ length: AT_ONCE }, (_, index) => upload(world, `many-${index.toString()}`))),
  );
  const within = one - before <= LIMITS.one && several - before <= LIMITS.several;
  console.log(
    `Above the memory before the first upload: ${(one - before).toString()} MiB and ${(several - before).toString()} MiB. ` +
      `The limits are ${LIMITS.one.toString()} and ${LIMITS.several.toString()} MiB.`,
  );
  if (!within) process.exitCode = 1;
} finally {
  await world.stop();
}
