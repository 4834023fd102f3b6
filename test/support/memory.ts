import { open, readFile } from "node:fs/promises";

/** Bytes that are read at once. A text that is looked for may lie across two reads. */
const CHUNK = 4 * 1_048_576;
const OVERLAP = 128;

/**
 * Which of the texts the memory of a process has, as a core dump would have it. Linux only.
 * @param pid of a process that this one has started.
 */
export async function foundInMemory(pid: number, texts: readonly (string | Uint8Array)[]): Promise<boolean[]> {
  const wanted = texts.map((text) => Buffer.from(text));
  const found = wanted.map(() => false);
  const maps = await readFile(`/proc/${pid.toString()}/maps`, "utf8");
  await using memory = await open(`/proc/${pid.toString()}/mem`, "r");
  const buffer = Buffer.alloc(CHUNK + OVERLAP);
  for (const [, from = "", to = "", rights = ""] of maps.matchAll(/^([0-9a-f]+)-([0-9a-f]+) (\S+)/gm)) {
    if (!rights.startsWith("rw")) continue;
    const end = Number(`0x${to}`);
    for (let at = Number(`0x${from}`); at < end; at += CHUNK) {
      // Pages that nobody has touched, or of a device, cannot be read.
      const read = await memory.read(buffer, 0, Math.min(buffer.length, end - at), at).catch(() => null);
      if (read === null) break;
      const bytes = buffer.subarray(0, read.bytesRead);
      for (const [index, text] of wanted.entries()) found[index] ||= bytes.includes(text);
    }
  }
  return found;
}
