import { readdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";

import type { CID } from "multiformats/cid";

import { openBlocks } from "../../../api/content/store/open-blocks.ts";
import type { MediaStoreSetting } from "../../../api/config/media-store.ts";
import type { BlockStore } from "../../../api/content/block-store.ts";
import { canonicalCid } from "../../../api/content/cids.ts";
import type { Database } from "../../../api/store/db/database.ts";
import { collect } from "../../support/collect.ts";
import { S3_BUCKET, S3_KEYS, S3_REGION, S3Server } from "../../support/s3-server.ts";

/** Every kind of block store. */
export const BLOCK_STORES = ["files", "database", "s3"] as const;
export type BlockStoreKind = (typeof BLOCK_STORES)[number];

/** A block store, and what a test does behind its back. */
export interface TestBlocks {
  blocks: BlockStore;
  /** The same store, as another process opens it. */
  other(): BlockStore;
  /** Replaces the stored bytes of a block, as a failing disk does. */
  corrupt(cid: CID, bytes: string): Promise<void>;
  /** Makes all blocks old enough for any garbage collection. */
  age(): Promise<void>;
  /** How many copies of blocks are stored, also of those that nobody can read. */
  copies(): Promise<number>;
  server: S3Server | null;
  close(): Promise<void>;
}

const PREFIX = "some/where/";

export async function openTestBlocks(
  kind: BlockStoreKind,
  at: { dataDir: string; database: Database; keepFree?: number | null },
): Promise<TestBlocks> {
  const server = kind === "s3" ? new S3Server() : null;
  await server?.start();
  const setting = settingOf(kind, server);
  const open = () => openBlocks(setting, at);
  const blocks = open();
  const { database } = at;
  return {
    blocks,
    server,
    other: open,
    corrupt: async (cid, bytes) => {
      const name = canonicalCid(cid);
      if (kind === "files") return writeFile(join(at.dataDir, "blocks", name.slice(-3, -1), name), bytes);
      for (const key of server?.objects.keys() ?? [])
        if (key.includes(name)) server?.objects.set(key, Buffer.from(bytes));
      await database.write((trx) =>
        trx
          .updateTable("media_bytes")
          .set({ bytes: Buffer.from(bytes) })
          .where("object", "like", `${name}%`)
          .execute(),
      );
    },
    age: async () => {
      if (kind === "files") {
        for (const { cid } of await collect(blocks.all())) {
          const name = canonicalCid(cid);
          await utimes(join(at.dataDir, "blocks", name.slice(-3, -1), name), 1, 1);
        }
      }
      await database.write((trx) => trx.updateTable("media_blocks").set({ stored_at: 1 }).execute());
    },
    copies: async () => {
      if (server !== null) return server.objects.size;
      if (kind === "files") {
        const entries = await readdir(join(at.dataDir, "blocks"), { recursive: true, withFileTypes: true });
        return entries.filter((entry) => entry.isFile()).length;
      }
      return (await database.read.selectFrom("media_bytes").select("object").execute()).length;
    },
    close: async () => server?.stop(),
  };
}

function settingOf(kind: BlockStoreKind, server: S3Server | null): MediaStoreSetting {
  if (kind !== "s3") return { kind };
  return {
    kind,
    bucket: {
      bucket: S3_BUCKET,
      prefix: PREFIX,
      endpoint: server?.endpoint ?? "",
      region: S3_REGION,
      pathStyle: true,
      credentials: S3_KEYS,
    },
  };
}
