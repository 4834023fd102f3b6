import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";

import { expect } from "chai";

import { callFrom } from "../../../scripts/scene/callers.ts";
import { residentOf } from "../../../scripts/scene/resident.ts";
import { eventually } from "../../support/eventually.ts";
import type { TestProcess } from "../../support/process.ts";
import { useService } from "../../support/use-service.ts";

const MIB = 2 ** 20;
/** Callers at the same time. */
const CALLERS = 500;
/** Bytes of a file, and how many there are: together more than the service keeps of them in memory. */
const FILE = 20 * MIB;
const FILES = 5;
/** Bytes that a slow reader takes at a time, and milliseconds between two of them. */
const SLOWLY = { bytes: 65_536, every: 2_000 };
/** Calls of another caller during the slow ones. */
const OTHER_CALLS = 100;
/** Most MiB by which slow callers may enlarge the process. */
const MOST_MEMORY = 400;

// A process of its own, because its memory is measured. Each block gets a fresh one.
describe("a service with 500 slow callers", () => {
  const moneta = useService({ start: false, per: "test" });
  let open: Socket[] = [];
  afterEach(() => {
    for (const socket of open) socket.destroy();
    open = [];
  });

  /** Opens a connection and sends the beginning of a call. */
  async function begin(text: string): Promise<Socket> {
    const { hostname, port } = new URL(moneta.baseUrl);
    const socket = connect(Number(port), hostname);
    // The service may close it: that is one of its ways to stay small.
    socket.on("error", () => undefined);
    open.push(socket);
    await once(socket, "connect");
    socket.write(text);
    return socket;
  }

  /** Bytes of random content, each part of which is a block of its own. @returns its CID. */
  async function upload(): Promise<string> {
    const answer = await fetch(`${moneta.baseUrl}/v1/media`, {
      method: "POST",
      headers: { authorization: `Bearer ${moneta.app.token}`, "content-type": "application/octet-stream" },
      body: randomBytes(FILE),
    });
    const { cid } = (await answer.json()) as { cid: string };
    return cid;
  }

  /** Another caller, whose calls are answered meanwhile. It has an address of its own: that of the slow ones has its limit. */
  async function callOthers(): Promise<void> {
    const call = { method: "GET", path: "/v1/accounts", token: moneta.app.token, from: "127.0.0.2" };
    for (let count = 0; count < OTHER_CALLS; count++) {
      const { status, text } = await callFrom(moneta.baseUrl, call);
      expect(status, text).to.equal(200);
    }
  }

  /** @returns a function that says by how many MiB the peak of the memory has grown. Only Linux reports it; elsewhere it is 0. */
  async function watchMemory(process: TestProcess): Promise<() => Promise<number>> {
    const before = await residentOf(process.pid);
    return async () => {
      const after = await residentOf(process.pid);
      return before === null || after === null ? 0 : after.peak - before.peak;
    };
  }

  it("holds little of what they do not read, and answers others", async () => {
    const process = await moneta.startProcess();
    const cids: string[] = [];
    for (let file = 0; file < FILES; file++) cids.push(await upload());
    const grown = await watchMemory(process);
    let began = 0;
    for (let reader = 0; reader < CALLERS; reader++) {
      const first = (Math.floor(reader / FILES) % (FILE / MIB)) * MIB;
      const cid = cids[reader % FILES] ?? "";
      const socket = await begin(`GET /ipfs/${cid} HTTP/1.1\r\nHost: a\r\nRange: bytes=${first.toString()}-\r\n\r\n`);
      socket.once("data", () => (began += 1));
      readSlowly(socket);
    }
    await eventually(() => Promise.resolve(began === CALLERS || undefined));
    await callOthers();
    expect(await grown(), "MiB").to.be.below(MOST_MEMORY);
  });

  it("holds little of bodies that arrive slowly, and answers others", async () => {
    const grown = await watchMemory(await moneta.startProcess());
    const half = `{"user_identifier":"${"x".repeat(MIB - 2_000)}`;
    for (let writer = 0; writer < 3 * CALLERS; writer++) {
      await begin(
        `POST /v1/accounts HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${moneta.app.token}\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${MIB.toString()}\r\n\r\n${half}`,
      );
    }
    await callOthers();
    expect(await grown(), "MiB").to.be.below(MOST_MEMORY);
  });
});

/** Takes a little, waits, and so on. */
function readSlowly(socket: Socket): void {
  let taken = 0;
  socket.on("data", (chunk: Buffer) => {
    taken += chunk.length;
    if (taken < SLOWLY.bytes) return;
    taken = 0;
    socket.pause();
    setTimeout(() => socket.resume(), SLOWLY.every).unref();
  });
}
