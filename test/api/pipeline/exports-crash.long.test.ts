import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";

import { expect } from "chai";

import { withDatabase } from "../../../scripts/scene/scene.ts";
import { randomAddress } from "../support/rows.ts";
import { useService } from "../../support/use-service.ts";

/** More rows than the system keeps for a connection. */
const WALLETS = 60_000;

describe("a process that is killed while it sends an export", () => {
  // It is killed.
  const moneta = useService({ start: false });

  it("leaves no file, also not after the next start", async () => {
    const process = await moneta.startProcess({ ROLES: "api" });
    await withDatabase(moneta.databaseUrl, (database) =>
      database.write(async (trx) => {
        for (let count = 0; count < WALLETS; count += 500) {
          const rows = Array.from({ length: 500 }, () => ({
            ...{ app_id: moneta.app.appId, user_identifier: null, path: "1/2/3", created_at: 1 },
            address: randomAddress(),
          }));
          await trx.insertInto("wallets").values(rows).execute();
        }
      }),
    );
    const socket = connect({ port: Number(new URL(moneta.baseUrl).port), host: "127.0.0.1" });
    socket.on("error", () => undefined);
    socket.write(`GET /v1/exports/wallets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${moneta.app.token}\r\n\r\n`);
    await once(socket, "data");
    socket.pause();
    await process.end("SIGKILL");
    socket.destroy();
    const files = () => readdir(join(moneta.folder, "exports"));
    expect(await files()).to.deep.equal([]);
    await moneta.startProcess({ ROLES: "api" });
    expect(await files()).to.deep.equal([]);
    const headers = { authorization: `Bearer ${moneta.app.token}` };
    const again = await fetch(`${moneta.baseUrl}/v1/exports/wallets`, { headers });
    expect((await again.text()).split("\n")).to.have.length(WALLETS + 1);
    expect(await files()).to.deep.equal([]);
  });
});
