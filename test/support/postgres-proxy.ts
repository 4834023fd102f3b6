import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A proxy between a service and PostgreSQL that can lose the answer to a commit. */
export interface PostgresProxy {
  /** The database's URL, through the proxy. */
  url: string;
  /**
   * The next transaction with a statement that contains this text is committed, but its answer is lost with its connection.
   * @returns when that has happened.
   */
  loseCommitOf(statement: string): Promise<void>;
  stop(): Promise<void>;
}

/** The end of the message that commits a transaction. */
const COMMIT = "commit\0";
/** The name of a prepared statement with the text that follows where it is prepared. */
const PREPARED = /(m_[0-9a-f]{32})\0([^\0]*)/g;

interface Plan {
  statement: string;
  done: () => void;
}

export async function startPostgresProxy(databaseUrl: string): Promise<PostgresProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let plan: Plan | null = null;
  /** The texts of prepared statements by their names. A text is sent once for each connection. */
  const texts = new Map<string, string>();
  const runs = (data: Buffer, statement: string) => {
    const sent = data.toString("latin1");
    if (sent.includes(statement)) return true;
    return [...sent.matchAll(PREPARED)].some(([, name = ""]) => texts.get(name)?.includes(statement));
  };
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    const close = () => {
      for (const socket of [client, upstream]) {
        socket.destroy();
        sockets.delete(socket);
      }
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", close).on("close", close);
    }
    let doomed: Plan | null = null;
    let committing = false;
    client.on("data", (data) => {
      for (const [, name = "", text = ""] of data.toString("latin1").matchAll(PREPARED)) {
        if (/^\s*\w+ /.test(text)) texts.set(name, text);
      }
      if (plan !== null && runs(data, plan.statement)) [doomed, plan] = [plan, null];
      committing = doomed !== null && data.includes(COMMIT);
      upstream.write(data);
    });
    upstream.on("data", (data) => {
      if (!committing) {
        client.write(data);
        return;
      }
      // The server has committed.
      close();
      doomed?.done();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = new URL(databaseUrl);
  url.port = (server.address() as AddressInfo).port.toString();
  return {
    url: url.href,
    loseCommitOf: (statement) =>
      new Promise((resolve) => {
        plan = { statement, done: resolve };
      }),
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
