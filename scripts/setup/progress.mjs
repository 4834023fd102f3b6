import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

import { say } from "./project.mjs";

/** Sizes are those of `du -sm`. */
const MEGABYTE = 2 ** 20;
const BLOCK = 512;
const ON_TERMINAL_MS = 1_000;
/** Plain lines stay in logs, so there are few of them. */
const PLAIN_MS = 15_000;
const BAR_WIDTH = 24;

/**
 * Shows how a folder grows from one size to another, in megabytes: a bar on a terminal, plain lines elsewhere. The sizes are
 * estimates, so the bar waits just below its end. npm needs more in between, so what is shown never shrinks.
 * @returns `stop`, which removes the bar, and `complete`, which shows it complete, for good.
 */
export function showProgress(what, folder, { from, to }) {
  const started = performance.now();
  const terminal = process.stderr.isTTY === true;
  let most = from;
  const show = () => {
    most = Math.max(most, Math.min(megabytesOf(folder), to));
    const share = Math.min(0.99, (most - from) / (to - from));
    const seconds = Math.round((performance.now() - started) / 1000);
    if (terminal) process.stderr.write(`\r\x1b[2K${barOf(what, share)} ${most} of about ${to} MB, ${seconds} s`);
    else say(`${what}: ${seconds} s, ${most} of about ${to} MB`);
  };
  if (terminal) show();
  const timer = setInterval(show, terminal ? ON_TERMINAL_MS : PLAIN_MS);
  return {
    stop: () => {
      clearInterval(timer);
      if (terminal) process.stderr.write("\r\x1b[2K");
    },
    complete: () => {
      if (terminal) process.stderr.write(`${barOf(what, 1)} ${megabytesOf(folder)} MB\n`);
    },
  };
}

function megabytesOf(folder) {
  return Math.round(sizeOf(folder) / MEGABYTE);
}

function barOf(what, share) {
  const filled = Math.floor(BAR_WIDTH * share);
  return `moneta: ${what} [${"#".repeat(filled)}${"-".repeat(BAR_WIDTH - filled)}] ${Math.floor(100 * share)} %,`;
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
