import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

import type { ServiceFixture } from "./service.ts";

/** The bytes of something that a service has stored. */
interface Stored {
  name: string;
  bytes: Buffer;
}

/** Every file of the data folder, and every row of the database, which may be on a server. */
export async function everythingStored({ folder, service }: ServiceFixture): Promise<Stored[]> {
  const stored: Stored[] = [];
  for (const file of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(file.parentPath, file.name);
    if (file.isFile()) stored.push({ name: path, bytes: await readFile(path) });
  }
  const { read } = service.database;
  for (const { name } of await read.introspection.getTables()) {
    const rows = await read
      .selectFrom(name as "meta")
      .selectAll()
      .execute();
    stored.push({ name, bytes: Buffer.from(JSON.stringify(rows)) });
  }
  return stored;
}
