import { once } from "node:events";
import { type IncomingMessage, request as httpRequest } from "node:http";

import { expect } from "chai";

import { enqueueEvents } from "../../../api/store/outbox/events.ts";
import { writePosition } from "../../../api/v1/schemas/events.ts";
import { EventReader } from "../../support/event-reader.ts";
import { eventually } from "../../support/eventually.ts";
import type { TestApi } from "../support/api.ts";
import { expectAccepted } from "../support/expect.ts";
import { storedRequest } from "../support/stored-request.ts";
import { useApi } from "../support/use-api.ts";

const STREAM = { accept: "text/event-stream" };

describe("an event stream whose client reads slowly", () => {
  const api = useApi({
    per: "block",
    limits: { appEventStreams: 1 },
    idleTimeout: 1_500,
  });
  let reader: EventReader | null = null;
  afterEach(() => reader?.close());

  const open = (headers: Record<string, string> = {}) =>
    EventReader.open(`${api.baseUrl}/v1/events`, api.app.token, headers).catch(() => undefined);

  it("is ended when the client takes nothing; after a reconnect nothing is lost", async () => {
    // About 20 MB, more than the buffers of the sockets take.
    const count = 5_000;
    await addCorrections(api, count);
    const late = await openPaused(`${api.baseUrl}/v1/events?after=start`, api.app.token);
    // There is no room for another stream until the service has given the first one up.
    reader = await eventually(() => open());
    reader.close();
    const arrived = cursorsIn(await textOf(late));
    expect(arrived.length).to.be.within(1, count - 1);
    // The rest stayed in the database: the service held some pages for the client.
    expect(api.streamed - arrived.length).to.be.within(0, 8 * 64);
    reader = await eventually(() => open({ "last-event-id": arrived.at(-1) ?? "" }));
    await reader.first(count - arrived.length);
    const all = [...arrived, ...reader.events.map((event) => event.id)];
    expect(all).to.deep.equal(Array.from({ length: count }, (_, index) => writePosition(index + 1)));
  });
});

/** Stores many events of a request. */
async function addCorrections(api: TestApi, count: number): Promise<void> {
  const requestId = expectAccepted(await api.post("/v1/collections", { type: "ERC721", name: "A", symbol: "AAA" }));
  const request = { ...(await storedRequest(api, requestId)), nft_collection: "x".repeat(4_000) };
  const events = Array.from({ length: count }, () => ({ request, type: "corrected" as const }));
  await api.database.write((trx) => enqueueEvents(trx, events, Date.now()));
}

/** Opens a stream and takes nothing of it. */
async function openPaused(url: string, token: string): Promise<IncomingMessage> {
  const call = httpRequest(url, { headers: { authorization: `Bearer ${token}`, ...STREAM } });
  call.end();
  const [response] = (await once(call, "response")) as [IncomingMessage];
  return response.pause();
}

/** What arrives until the connection is closed. */
async function textOf(response: IncomingMessage): Promise<string> {
  let text = "";
  response.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  // The connection is closed in the middle of the answer.
  response.on("error", () => undefined).resume();
  await new Promise((resolve) => response.once("close", resolve));
  return text;
}

/** The cursors of the events that arrived as a whole. */
function cursorsIn(text: string): string[] {
  const whole = text.slice(0, text.lastIndexOf("\n\n") + 2);
  return [...whole.matchAll(/^id: (.*)\nevent: /gm)].map(([, id]) => id ?? "");
}
