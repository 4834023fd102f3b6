import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";

import pg from "pg";

/*
 * A pooler in transaction mode, as PgBouncer is: a client gets one of a few connections to the server for each transaction,
 * and never the one of its last transaction if another is free.
 */

interface PostgresPooler {
  /** The database's URL, through the pooler. */
  url: string;
  /** How many times a client got another connection than for its last transaction. */
  switches(): number;
  /** How many statements the clients prepared by name. */
  named(): number;
  stop(): Promise<void>;
}

/** A connection to the server, of which the pooler reads the messages. */
interface Upstream {
  client: pg.Client;
  socket: Socket;
  process: number;
  user: Downstream | null;
}

interface Downstream {
  socket: Socket;
  /** Messages that wait for a connection. */
  waiting: Buffer[];
  upstream: Upstream | null;
  last: Upstream | null;
}

/** "own": clients see numbers of the pooler's own. "server": they see the process of a connection to the server. */
type Processes = "own" | "server";

const READY = "Z".charCodeAt(0);
const PARSE = "P".charCodeAt(0);
const TERMINATE = "X".charCodeAt(0);
const IDLE = "I".charCodeAt(0);
/** A number that no process of the server has. */
const OWN_PROCESS = 2_000_000_000;

export async function startPooler(databaseUrl: string, size: number, processes: Processes): Promise<PostgresPooler> {
  const upstreams = await Promise.all(Array.from({ length: size }, () => connectUpstream(databaseUrl)));
  const clients = new Set<Downstream>();
  let [switches, named] = [0, 0];

  /** Gives connections that are free to clients that wait. */
  function assign(): void {
    for (const client of clients) {
      if (client.upstream !== null || client.waiting.length === 0) continue;
      const free = upstreams.filter(({ user }) => user === null);
      const upstream = free.find((one) => one !== client.last) ?? free[0];
      if (upstream === undefined) return;
      if (client.last !== null && client.last !== upstream) switches += 1;
      [client.upstream, client.last, upstream.user] = [upstream, upstream, client];
      for (const message of client.waiting.splice(0)) upstream.socket.write(message);
    }
  }

  for (const upstream of upstreams) {
    const read = messages((type, message) => {
      const client = upstream.user;
      client?.socket.write(message);
      if (client === null || type !== READY || message[5] !== IDLE) return;
      [client.upstream, upstream.user] = [null, null];
      assign();
    });
    upstream.socket.on("data", read);
  }
  const server = createServer({ noDelay: true }, (socket) => {
    const client: Downstream = { socket, waiting: [], upstream: null, last: null };
    clients.add(client);
    socket.on("error", () => socket.destroy()).on("close", () => clients.delete(client));
    socket.once("data", () => {
      const [first] = upstreams;
      socket.write(welcome(processes === "server" && first !== undefined ? first.process : OWN_PROCESS));
      const read = messages((type, message) => {
        // The name is before the text, and ends with a zero.
        if (type === PARSE && message[5] !== 0) named += 1;
        if (type === TERMINATE) socket.end();
        else if (client.upstream === null) client.waiting.push(message);
        else client.upstream.socket.write(message);
      });
      socket.on("data", (data) => {
        read(data);
        assign();
      });
    });
  });
  return {
    url: await listen(server, databaseUrl),
    switches: () => switches,
    named: () => named,
    stop: async () => {
      for (const { socket } of clients) socket.destroy();
      server.close();
      for (const { client } of upstreams) await client.end();
    },
  };
}

/** @returns the database's URL, through the server. */
async function listen(server: Server, databaseUrl: string): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = new URL(databaseUrl);
  url.port = (server.address() as AddressInfo).port.toString();
  return url.href;
}

/** Lets `pg` sign in, and then takes its socket. */
async function connectUpstream(url: string): Promise<Upstream> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  const { connection, processID } = client as unknown as { connection: { stream: Socket }; processID: number };
  connection.stream.removeAllListeners("data");
  return { client, socket: connection.stream, process: processID, user: null };
}

/** Cuts a stream into the messages of PostgreSQL's protocol: a type, a length, the content. */
function messages(handle: (type: number, message: Buffer) => void): (data: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (data) => {
    rest = Buffer.concat([rest, data]);
    while (rest.length >= 5) {
      const length = 1 + rest.readUInt32BE(1);
      if (rest.length < length) return;
      const message = rest.subarray(0, length);
      rest = rest.subarray(length);
      handle(message.readUInt8(0), message);
    }
  };
}

/** What a client gets after its first message: it is signed in, its process, and that it may send statements. */
function welcome(process: number): Buffer {
  const message = (type: string, ...numbers: number[]) => {
    const body = Buffer.alloc(4 * (numbers.length + 1));
    body.writeUInt32BE(body.length, 0);
    for (const [index, number] of numbers.entries()) body.writeUInt32BE(number, 4 * (index + 1));
    return Buffer.concat([Buffer.from(type), body]);
  };
  const ready = Buffer.from([READY, 0, 0, 0, 5, IDLE]);
  return Buffer.concat([message("R", 0), message("K", process, 1), ready]);
}
