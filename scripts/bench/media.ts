import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { openBlocks } from "../../api/blocks/open-blocks.ts";
import { parseMediaStoreText } from "../../api/config/settings.ts";
import { parseCid } from "../../api/ipfs/cids.ts";
import { findFile } from "../../api/ipfs/content.ts";
import { copyMedia } from "../../api/media/copy-media.ts";
import { createOutboundAgent } from "../../api/outbound/agent.ts";
import { openDatabase } from "../../api/store/db/database.ts";

/**
 * `npm run bench:media`: copies 200 MiB from a server into the block store, reads them back, then makes 20 such copies at
 * once. `MEDIA_STORE` and `DATABASE_URL` name the place, as for the service. It measures the peak memory of this process. The server is another process, so its memory does not count.
 */

const MIB = 1_048_576;
const SIZE = 200 * MIB;
const AT_ONCE = 20;
/** With this argument, the program is the server. */
const SERVER = "server";
/** Limit for the resident memory of this process, in MiB. */
const LIMIT_MIB = 400;

/** Sends different bytes for every path, because equal blocks are stored once. */
async function serve(): Promise<void> {
  const noise = randomBytes(MIB);
  const server: Server = createServer((request, response) => {
    const label = Buffer.from((request.url ?? "").padEnd(64));
    response.setHeader("content-length", SIZE.toString());
    let sent = 0;
    const more = () => {
      while (sent < SIZE) {
        const chunk = Buffer.from(noise);
        label.copy(chunk);
        chunk.writeUInt32LE(sent / MIB, 64);
        sent += MIB;
        if (!response.write(chunk)) return;
      }
      response.end();
    };
    response.on("drain", more);
    more();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  process.send?.((server.address() as AddressInfo).port);
}

function peak(): string {
  return `${Math.round(process.resourceUsage().maxRSS / 1024).toString()} MiB`;
}

async function measure(label: string, bytes: number, work: () => Promise<void>): Promise<void> {
  const started = performance.now();
  await work();
  const seconds = (performance.now() - started) / 1000;
  const rate = Math.round(bytes / MIB / seconds).toString();
  console.log(
    `${label.padEnd(34)} ${seconds.toFixed(1).padStart(6)} s  ${rate.padStart(5)} MiB/s  peak memory ${peak()}`,
  );
}

async function run(port: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "moneta-bench-"));
  const database = await openDatabase(process.env["DATABASE_URL"] ?? `file:${join(folder, "bench.sqlite")}`);
  const setting = parseMediaStoreText(process.env, process.env["MEDIA_STORE"] ?? "files");
  const { blocks, close } = openBlocks(setting, { dataDir: folder, database });
  const agent = createOutboundAgent({ allowedHosts: new Set(), allowLoopback: true });
  const deps = { blocks, agent, gateway: null, maxBytes: SIZE, deadline: 600_000 };
  const copy = (name: string) =>
    copyMedia(deps, `http://127.0.0.1:${port.toString()}/${name}`, new AbortController().signal);
  try {
    console.log(`${"before the first copy".padEnd(34)} ${"".padStart(24)}peak memory ${peak()}`);
    let cid = "";
    await measure("write 200 MiB", SIZE, async () => {
      ({ cid } = await copy("one"));
    });
    await measure("read 200 MiB", SIZE, async () => {
      const root = parseCid(cid);
      const file = root === null ? null : await findFile(blocks, root, "");
      let read = 0;
      for await (const part of file?.read() ?? []) read += part.length;
      if (read !== SIZE) throw new Error(`read ${read.toString()} bytes of ${SIZE.toString()}`);
    });
    await measure(`${AT_ONCE.toString()} x 200 MiB, concurrently`, AT_ONCE * SIZE, async () => {
      await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => copy(`many-${index.toString()}`)));
    });
    const used = Math.round(process.resourceUsage().maxRSS / 1024);
    console.log(
      used <= LIMIT_MIB
        ? `The peak memory is within the limit of ${LIMIT_MIB.toString()} MiB.`
        : `The peak memory exceeds the limit of ${LIMIT_MIB.toString()} MiB.`,
    );
    if (used > LIMIT_MIB) process.exitCode = 1;
  } finally {
    await agent.destroy();
    await close();
    await database.close();
    await rm(folder, { recursive: true, force: true });
  }
}

if (process.argv[2] === SERVER) {
  await serve();
} else {
  const { fork } = await import("node:child_process");
  const server = fork(import.meta.filename, [SERVER]);
  server.once("message", (port: number) => {
    void run(port).finally(() => server.kill());
  });
}
