import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

import type { Random } from "./random.ts";

/** What the proxy does to connections while a fault lasts. */
export type ConnectionFault =
  | {
      /** Ends a connection before the server has got the COMMIT, or before the client has got the answer. */
      kind: "drop-before-commit" | "drop-after-commit";
      /** How likely it affects a COMMIT, from 0 to 1. */
      probability: number;
    }
  /** Passes nothing on, and keeps all connections. */
  | { kind: "stall" };

/** A message of PostgreSQL's protocol: a simple query (Q), its length, its text. */
const COMMIT = Buffer.from("Q\0\0\0\x0bcommit\0");

/** A proxy between the service and a PostgreSQL server, which injects faults. */
export class PostgresProxy {
  readonly #server: Server;
  readonly #target: number;
  readonly #random: Random;
  readonly #sockets = new Set<Socket>();
  #fault: ConnectionFault | null = null;
  /** How many connections the current fault has affected. */
  injected = 0;

  private constructor(target: number, random: Random) {
    this.#target = target;
    this.#random = random;
    this.#server = createServer((client) => {
      this.#handle(client);
    });
  }

  /** @param target port of the server on loopback. */
  static async start(target: number, random: Random): Promise<PostgresProxy> {
    const proxy = new PostgresProxy(target, random);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  set fault(fault: ConnectionFault | null) {
    this.#fault = fault;
    this.injected = 0;
    if (fault?.kind === "stall") {
      this.injected = this.#sockets.size / 2;
      for (const socket of this.#sockets) socket.pause();
    } else {
      for (const socket of this.#sockets) socket.resume();
    }
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #handle(client: Socket): void {
    const server = connect(this.#target, "127.0.0.1");
    let answerIsDropped = false;
    const end = () => {
      client.destroy();
      server.destroy();
    };
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.setNoDelay(true);
      // Either side may end the connection in any way. Then the other side must notice, after the last message.
      socket.on("error", end);
      socket.on("close", () => {
        this.#sockets.delete(socket);
        other.end();
      });
    }
    client.on("data", (message) => {
      const drop = this.#dropAt(message);
      if (drop === "drop-before-commit") {
        end();
        return;
      }
      answerIsDropped = drop === "drop-after-commit";
      server.write(message);
    });
    server.on("data", (message) => {
      // The server answers after it has committed.
      if (answerIsDropped) end();
      else client.write(message);
    });
    if (this.#fault?.kind === "stall") for (const socket of [client, server]) socket.pause();
  }

  /** What to do with a message of a client. */
  #dropAt(message: Buffer): ConnectionFault["kind"] | null {
    const fault = this.#fault;
    if (fault === null || fault.kind === "stall" || !message.includes(COMMIT)) return null;
    if (!this.#random.chance(fault.probability)) return null;
    this.injected++;
    return fault.kind;
  }
}
