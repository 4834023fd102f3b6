import { createServer, type Server } from "node:http";
import { json } from "node:stream/consumers";

import { expect } from "chai";
import pino from "pino";

import { orderedId } from "../../../api/shared/ids.ts";
import { rootOf, traceTo } from "../../../api/metrics/traced.ts";
import { NO_METRICS } from "../../../api/shared/metrics.ts";
import { eventually } from "../../support/eventually.ts";
import { useService } from "../../support/use-service.ts";
import { type Listening, listenOnLoopback } from "../../../scripts/scene/loopback.ts";

interface SentSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: { stringValue?: string; intValue?: string } }[];
  links: { traceId: string; spanId: string }[];
  /** From the resource. */
  service: string;
}

interface Message {
  resourceSpans: {
    resource: { attributes: { key: string; value: { stringValue: string } }[] };
    scopeSpans: { spans: Omit<SentSpan, "service">[] }[];
  }[];
}

/** The id of a request that nothing stores. */
const REQUEST = "4bf92f3577b34da6a3ce929d0e0e473600f067aa0ba902b74bf92f3577b34da6";

/** A collector on loopback, which is the receiver of webhooks too. */
class TestCollector {
  readonly spans: SentSpan[] = [];
  readonly messages: string[] = [];
  readonly keys = new Set<unknown>();
  status = 200;
  readonly #server: Server = createServer((request, response) => {
    void json(request).then((body) => {
      if (request.url === "/v1/traces") this.#receive(body as Message, request.headers["x-key"]);
      response.writeHead(this.status).end("{}");
    });
  });

  #listening: Listening | null = null;

  async start(): Promise<void> {
    this.#listening = await listenOnLoopback(this.#server);
  }

  get url(): string {
    return this.#listening?.url ?? "";
  }

  async stop(): Promise<void> {
    await this.#listening?.stop();
  }

  #receive(message: Message, key: unknown): void {
    this.messages.push(JSON.stringify(message));
    this.keys.add(key);
    if (this.status !== 200) return;
    for (const { resource, scopeSpans } of message.resourceSpans) {
      const service = resource.attributes.find((one) => one.key === "service.name")!.value.stringValue;
      for (const { spans } of scopeSpans) this.spans.push(...spans.map((span) => ({ ...span, service })));
    }
  }
}

function useCollector(): TestCollector {
  const collector = new TestCollector();
  before("start a collector", () => collector.start());
  after("stop the collector", () => collector.stop());
  return collector;
}

describe("traces", () => {
  describe("given two processes and a collector", () => {
    const collector = useCollector();
    // Two processes, which export under names of their own.
    const moneta = useService({ start: false });
    const spanIn = (trace: string) => Promise.resolve(collector.spans.find(({ traceId }) => traceId === trace));

    before("start the processes", async () => {
      const traces = (name: string) => ({
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_EXPORTER_OTLP_HEADERS: "x-key=a%20key",
        OTEL_SERVICE_NAME: name,
      });
      await moneta.startProcess({ ROLES: "api", ...traces("api") });
      const worker = moneta.spawn({ ROLES: "relayer,indexer,webhooks,media", ...traces("worker") });
      await worker.printed(/"msg":"serving"/);
    });

    it("joins the spans of a mint in one trace, links it with the caller's, and tells no names", async () => {
      const { api, app } = moneta;
      await api.ok("PUT", "/v1/webhook", { url: `${collector.url}/webhook` });
      const wallet = await api.wallet();
      const collection = await api.collection({ type: "ERC721" });
      const caller = rootOf(orderedId());
      const answer = await fetch(`${moneta.baseUrl}/v1/nfts`, {
        method: "POST",
        headers: {
          Authorization: `Bearer ${app.token}`,
          "Content-Type": "application/json",
          traceparent: `00-${caller.traceId}-${caller.spanId}-01`,
        },
        body: JSON.stringify({ collection_address: collection, to_address: wallet, name: "Cat" }),
      });
      const { request_id: id } = (await answer.json()) as { request_id: string };
      expect(await api.settled(id)).to.include({ status: "completed" });

      const root = rootOf(id);
      const names = [
        "request mint",
        ...["accept", "batch", "build", "broadcast", "rpc eth_sendRawTransaction", "send", "settle", "webhook"],
      ];
      const inTrace = () => collector.spans.filter(({ traceId }) => traceId === root.traceId);
      const found = await eventually(() => {
        const spans = inTrace();
        const [seen, ids] = [new Set(spans.map(({ name }) => name)), new Set(spans.map(({ spanId }) => spanId))];
        // The processes send their spans one by one, those of inner steps first.
        const whole = spans.every(({ parentSpanId: parent }) => parent === undefined || ids.has(parent));
        return Promise.resolve(whole && names.every((name) => seen.has(name)) ? spans : undefined);
      });
      const ids = new Set(found.map(({ spanId }) => spanId));
      for (const { name, spanId, parentSpanId, startTimeUnixNano: start, endTimeUnixNano: end } of found) {
        if (spanId === root.spanId) expect(parentSpanId, name).to.equal(undefined);
        else expect(ids.has(parentSpanId!), name).to.equal(true);
        expect(BigInt(start) <= BigInt(end), name).to.equal(true);
      }
      const serviceOf = (name: string) => found.find((span) => span.name === name)!.service;
      expect([serviceOf("accept"), serviceOf("batch"), serviceOf("webhook")]).to.eql(["api", "worker", "worker"]);

      const http = await eventually(() => spanIn(caller.traceId));
      expect(http).to.include({ name: "POST /v1/nfts", parentSpanId: caller.spanId, kind: 2 });
      expect(http.links.map(({ traceId, spanId }) => ({ traceId, spanId }))).to.deep.equal([
        { traceId: root.traceId, spanId: root.spanId },
      ]);

      const all = collector.messages.join();
      for (const secret of [app.token, app.appId, wallet, collection, moneta.node.url]) {
        expect(all.toLowerCase()).to.not.contain(secret.toLowerCase());
      }
      expect([...collector.keys]).to.deep.equal(["a key"]);
    });

    it("does not trace a call whose caller is not sampled", async () => {
      const [silent, traced] = [rootOf(orderedId()), rootOf(orderedId())];
      for (const [{ traceId, spanId }, flags] of [
        [silent, "00"],
        [traced, "01"],
      ] as const) {
        await fetch(`${moneta.baseUrl}/healthz`, { headers: { traceparent: `00-${traceId}-${spanId}-${flags}` } });
      }
      await eventually(() => spanIn(traced.traceId));
      expect(collector.spans.some(({ traceId }) => traceId === silent.traceId)).to.equal(false);
    });
  });

  describe("given a slow or failing collector", () => {
    const collector = useCollector();
    const tracing = (logger: pino.Logger) => {
      const { metrics, stop } = traceTo(
        { endpoint: collector.url, headers: {}, serviceName: "test" },
        NO_METRICS,
        logger,
      );
      const add = (count: number) => {
        for (let index = 0; index < count; index++) metrics.media("copied", 1, REQUEST);
      };
      return { add, stop };
    };

    it("drops them, and logs the first failure and the end", async () => {
      const lines: { msg: string; dropped?: number }[] = [];
      const write = (line: string) => {
        lines.push(JSON.parse(line) as { msg: string });
      };
      const { add, stop } = tracing(pino({ level: "info" }, { write }));
      const received = (count: number) =>
        eventually(() => Promise.resolve(collector.messages.length >= count ? count : undefined));
      // Not an answer after which the same spans may be sent again.
      collector.status = 400;
      add(512);
      await received(1);
      add(512);
      await received(2);
      collector.status = 200;
      add(1);
      await stop();
      // On a slow machine, the last message arrives after the time that a stop waits for it.
      await eventually(() => Promise.resolve(lines.length >= 2 ? true : undefined));
      expect(collector.spans).to.have.length(1);
      expect(lines.map(({ msg }) => msg)).to.deep.equal([
        "traces cannot be delivered and are dropped: check OTEL_EXPORTER_OTLP_ENDPOINT and the collector",
        "traces are delivered again",
      ]);
      expect(lines[1]!.dropped).to.equal(1_024);
    });

    it("keeps no more than 8,192 spans while a message is under way", async () => {
      const { add, stop } = tracing(pino({ level: "silent" }));
      const before = collector.spans.length;
      add(20_000);
      await stop();
      const arrived = () => collector.spans.length - before;
      await eventually(() => Promise.resolve(arrived() >= 512 + 8_192 ? true : undefined));
      expect(arrived()).to.equal(512 + 8_192);
    });
  });
});
