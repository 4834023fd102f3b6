import { existsSync } from "node:fs";
import { dirname } from "node:path";

import { expect } from "chai";
import { Client } from "pg";

import { eventually } from "../../support/eventually.ts";
import { TestProcess } from "../../support/process.ts";

async function query(url: string, text: string): Promise<unknown[][]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<unknown[]>({ text, rowMode: "array" })).rows;
  } finally {
    await client.end();
  }
}

describe("a PostgreSQL server for tests", () => {
  const SERVE = `
    const { PostgresServer } = await import("./scripts/postgres/server.ts");
    const server = await PostgresServer.start();
    console.log("URL " + server.url("postgres"));
  `;

  for (const signal of ["SIGKILL", "SIGTERM"] as const) {
    it(`listens on loopback, requires the password, and ends with its process by ${signal}, without its data`, async () => {
      const process = new TestProcess(["--input-type=module", "-e", SERVE], {});
      const url = (await process.printed(/URL (\S+)\n/))[1]!;
      expect(await query(url, "show listen_addresses")).to.deep.equal([["127.0.0.1"]]);
      expect(await query(url, "show unix_socket_directories")).to.deep.equal([[""]]);
      const wrong = Object.assign(new URL(url), { password: "wrong" }).href;
      expect(await query(wrong, "select 1").catch((error: unknown) => error)).to.include({ code: "28P01" });
      const [[data]] = (await query(url, "show data_directory")) as [[string]];
      await process.end(signal);
      await eventually(() => Promise.resolve(existsSync(dirname(data)) ? undefined : true));
      expect(await query(url, "select 1").catch((error: unknown) => error)).to.include({ code: "ECONNREFUSED" });
    });
  }
});
