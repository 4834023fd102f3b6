import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";

import { expect } from "chai";

import { createClient } from "../../client/client.ts";
import { ApiRefusal } from "../../client/errors.ts";
import { HeldTimers } from "../support/held-timers.ts";
import { rejectionOf } from "../support/rejection.ts";
import { type Listening, listenOnLoopback } from "../../scripts/scene/loopback.ts";

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

/** A service whose answers the test gives, one for each connection. */
class FakeService {
  readonly places: (string | undefined)[] = [];
  readonly #server: Server;
  #listening: Listening | null = null;

  constructor(answers: Answer[]) {
    this.#server = createServer((request, response) => {
      this.places.push(request.headers["last-event-id"] as string | undefined);
      const answer = answers[this.places.length - 1];
      if (answer === undefined) response.writeHead(500).end();
      else answer(response, request);
    });
  }

  async client() {
    this.#listening = await listenOnLoopback(this.#server);
    return createClient({ baseUrl: this.#listening.url, token: "moneta_test" });
  }

  async close(): Promise<void> {
    await this.#listening?.stop();
  }
}

function begin(response: ServerResponse, place: string): void {
  response
    .writeHead(200, { "content-type": "text/event-stream", "last-event-id": place })
    .write(`retry: 10\nid: ${place}\n\n`);
}

function eventOf(cursor: string): string {
  return `id: ${cursor}\nevent: sent\ndata: {"id":"event ${cursor}","type":"sent"}\n\n`;
}

interface Options {
  after?: string;
  silence?: number;
  onOpen?: () => void;
}

describe("client.events", () => {
  let service: FakeService;
  afterEach(() => service.close());

  /** Takes events until the one with this cursor. */
  async function takeUntil(answers: Answer[], last: string, options: Options = {}) {
    service = new FakeService(answers);
    const client = await service.client();
    const [taken, lost]: [string[], string[]] = [[], []];
    const onLost = (error: unknown) => lost.push((error as Error).message);
    for await (const { cursor, event } of client.events({ ...options, onLost })) {
      expect(event.id).to.equal(`event ${cursor}`);
      taken.push(cursor);
      if (cursor === last) break;
    }
    return { taken, lost };
  }

  it("continues after the last event, however the connection ends", async () => {
    const { taken, lost } = await takeUntil(
      [
        (response) => {
          begin(response, "0");
          response.end(eventOf("1") + eventOf("2"));
        },
        (response) => {
          begin(response, "2");
          // An event that is cut off does not count.
          response.write(`${eventOf("3")}id: 4\nevent: sent\ndata: {"id"`, () => response.destroy());
        },
        (response) => {
          begin(response, "3");
          response.write(eventOf("4"));
        },
      ],
      "4",
    );
    expect(taken).to.deep.equal(["1", "2", "3", "4"]);
    expect(service.places).to.deep.equal([undefined, "2", "3"]);
    expect(lost).to.have.length(2);
  });

  it("asks for the types that the caller names, and types the events by them", async () => {
    service = new FakeService([
      (response, { url }) => {
        expect(url).to.equal("/v1/events?types=completed,token.received");
        begin(response, "0");
        response.write('id: 1\ndata: {"type":"completed","request_type":"mint"}\n\n');
        response.write('id: 2\ndata: {"type":"corrected","corrects":"event 0"}\n\n');
        response.write('id: 3\ndata: {"type":"token.received","log_index":7}\n\n');
      },
    ]);
    const client = await service.client();
    const found: unknown[] = [];
    for await (const { event } of client.events({ types: ["completed", "token.received"] })) {
      if (event.type === "completed") found.push(event.request_type);
      else if (event.type === "corrected") found.push(event.corrects);
      else if (found.push(event.log_index) === 3) break;
    }
    expect(found).to.deep.equal(["mint", "event 0", 7]);
  });

  it("continues where the stream began when it is lost before the first event", async () => {
    const { taken } = await takeUntil(
      [
        (response) => {
          begin(response, "7");
          response.end();
        },
        (response) => {
          begin(response, "7");
          response.write(eventOf("8"));
        },
      ],
      "8",
    );
    expect(service.places).to.deep.equal([undefined, "7"]);
    expect(taken).to.deep.equal(["8"]);
  });

  it("begins where the caller says, and waits while the service is busy", async () => {
    const busy = { "content-type": "application/json", "retry-after": "0" };
    const { lost } = await takeUntil(
      [
        (response) =>
          response.writeHead(503, busy).end('{"error_code":"unavailable","message":"Later.","errors":null}'),
        (response) => {
          begin(response, "5");
          response.write(eventOf("6"));
        },
      ],
      "6",
      { after: "5" },
    );
    expect(service.places).to.deep.equal(["5", "5"]);
    expect(lost).to.deep.equal(["503 unavailable: Later."]);
  });

  it("reconnects when nothing comes, not even a comment", async () => {
    const timers = new HeldTimers(2_000);
    let ringing: Promise<void> | null = null;
    const { taken, lost } = await takeUntil(
      [
        (response) => begin(response, "0"),
        (response) => {
          begin(response, "0");
          response.write(eventOf("1"));
        },
      ],
      "1",
      { silence: 2_000, onOpen: () => void (ringing ??= timers.ring()) },
    ).finally(() => timers.release());
    expect(taken).to.deep.equal(["1"]);
    expect(lost[0]).to.match(/Nothing came for 2000 ms/);
  });

  it("throws what the service refuses for good", async () => {
    const body = '{"error_code":"unauthorized","message":"No.","errors":null}';
    const refuse: Answer = (response) => response.writeHead(401, { "content-type": "application/json" }).end(body);
    const error = await rejectionOf(takeUntil([refuse], "1"));
    expect(error).to.be.instanceOf(ApiRefusal);
    expect(service.places).to.have.length(1);
  });

  it("throws when the answer is no stream", async () => {
    const page: Answer = (response) => response.writeHead(200, { "content-type": "text/html" }).end("<p>Hello");
    const error = await rejectionOf(takeUntil([page], "1"));
    expect(error.message).to.match(/answered 200 with text\/html instead of text\/event-stream/);
    expect(service.places).to.have.length(1);
  });

  it("closes the connection when the caller leaves the loop or aborts", async () => {
    const closed: Promise<unknown>[] = [];
    const answer: Answer = (response) => {
      closed.push(once(response, "close"));
      begin(response, "0");
      response.write(eventOf("1"));
    };
    await takeUntil([answer], "1");
    await closed[0];
    await service.close();
    service = new FakeService([answer]);
    const abort = new AbortController();
    const reading = (async () => {
      for await (const _event of (await service.client()).events({ signal: abort.signal }))
        abort.abort(new Error("enough"));
    })();
    expect(await reading.catch((error: unknown) => (error as Error).message)).to.equal("enough");
    await closed[1];
  });
});
