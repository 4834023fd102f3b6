import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

import { say } from "./project.mjs";

/** Sizes are those of `du -sm`. */
const MEGABYTE = 2 ** 20;
const BLOCK = 512;
const ON_TERMINAL_MS = 2_000;
/** Plain lines stay in logs, so there are few of them. */
const PLAIN_MS = 15_000;

/**
 * Shows the elapsed seconds and the size of a folder while it grows: one changing line on a terminal, plain lines elsewhere.
 * @returns an object whose `end` removes the line.
 */
export function showProgress(what, folder, expectedMegabytes) {
  const started = performance.now();
  const terminal = process.stderr.isTTY === true;
  const show = () => {
    const seconds = Math.round((performance.now() - started) / 1000);
    const line = `${what}: ${seconds} s, ${Math.round(sizeOf(folder) / MEGABYTE)} of about ${expectedMegabytes} MB`;
    if (terminal) process.stderr.write(`\r\x1b[2Kmoneta: ${line}`);
    else say(line);
  };
  const timer = setInterval(show, terminal ? ON_TERMINAL_MS : PLAIN_MS);
  return {
    end: () => {
      clearInterval(timer);
      if (terminal) process.stderr.write("\r\x1b[2K");
    },
  };
}

/** Bytes on disk of the folder. npm changes it meanwhile, so what disappears counts as nothing. */
export function sizeOf(folder) {
  let bytes = bytesOnDisk(folder);
  for (const entry of entriesOf(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) bytes += sizeOf(path);
    else if (entry.isFile()) bytes += bytesOnDisk(path);
  }
  return bytes;
}

function bytesOnDisk(path) {
  const status = statSync(path, { throwIfNoEntry: false });
  // Windows does not say how many blocks a file has.
  return status?.blocks === undefined ? (status?.size ?? 0) : status.blocks * BLOCK;
}

function entriesOf(folder) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return [];
    throw error;
  }
}
