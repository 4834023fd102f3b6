import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

import { expect } from "chai";
import { sql } from "kysely";

import { type Database, openDatabase } from "../../../../api/store/db/database.ts";
import { createTestDatabase, type DatabasePlace } from "../../../support/database.ts";
import { describeOn } from "../../../support/engine.ts";
import { HeldTimers } from "../../../support/held-timers.ts";

describeOn("postgres", "closing the database", () => {
  let place: DatabasePlace;
  let proxy: ServerWithSlowEnd;
  let database: Database;

  beforeEach(async () => {
    place = await createTestDatabase();
    proxy = await startServerWithSlowEnd(place.url);
    database = await openDatabase(proxy.url);
    // Each of these needs a connection of its own.
    await Promise.all(Array.from({ length: 4 }, () => sql`select pg_sleep(0.05)`.execute(database.read)));
  });
  afterEach(async () => {
    await proxy.stop();
    await place.remove();
  });

  it("returns only when the server has closed its ends of the connections", async () => {
    let returned = false;
    const closing = database.close().then(() => {
      returned = true;
    });
    await proxy.ended(4);
    expect(returned).to.equal(false);
    proxy.release();
    await closing;
    expect(await place.isOpen()).to.equal(false);
  });

  it("gives a server that does not close them a few seconds", async () => {
    const timers = new HeldTimers(3_000);
    let returned = false;
    try {
      const closing = database.close().then(() => {
        returned = true;
      });
      await proxy.ended(4);
      expect(returned).to.equal(false);
      await timers.ring();
      await closing;
    } finally {
      timers.release();
    }
  });
});

/** The server, behind a proxy that keeps the ends of its connections to itself until `release`. */
interface ServerWithSlowEnd {
  url: string;
  /** Resolves when the server has ended so many connections. */
  ended(count: number): Promise<void>;
  release(): void;
  stop(): Promise<void>;
}

async function startServerWithSlowEnd(databaseUrl: string): Promise<ServerWithSlowEnd> {
  const target = new URL(databaseUrl);
  const held: (() => void)[] = [];
  const sockets = new Set<Socket>();
  let onEnd = () => {};
  const server: Server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({ port: Number(target.port), host: target.hostname, allowHalfOpen: true });
    sockets.add(client).add(upstream);
    client.pipe(upstream);
    upstream.pipe(client, { end: false });
    upstream.once("end", () => {
      held.push(() => client.end());
      onEnd();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = new URL(databaseUrl);
  url.port = (server.address() as AddressInfo).port.toString();
  return {
    url: url.href,
    ended: (count) =>
      new Promise((resolve) => {
        onEnd = () => {
          if (held.length >= count) resolve();
        };
        onEnd();
      }),
    release: () => {
      for (const end of held.splice(0)) end();
    },
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
