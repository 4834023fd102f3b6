import { once } from "node:events";
import { createServer } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

import { expect } from "chai";

import { createOutboundAgent } from "../../../api/outbound/agent.ts";
import { post } from "../../../api/webhooks/sender.ts";
import { listenOnLoopback } from "../../../scripts/scene/loopback.ts";
import { WebhookReceiver } from "../../../scripts/scene/receiver.ts";
import { eventually } from "../../support/eventually.ts";
import { addApp, APP } from "../support/rows.ts";
import { useDispatcher } from "./support/use-dispatcher.ts";

const HOUR = 3_600_000;

const BLOCKED =
  "the URL leads to an address that is not public. The operator can allow its host with ALLOWED_PRIVATE_HOSTS.";

describe("Dispatcher: receivers that misbehave, and addresses that are not public", () => {
  const fixture = useDispatcher();

  it("disables the webhook when the receiver answers 410", async () => {
    fixture.receiver.respond = (_call, response) => response.writeHead(410).end();
    fixture.start();
    await fixture.emit(["completed"]);
    await eventually(async () => {
      const webhook = await fixture.database.read.selectFrom("webhooks").select("disabled_at").executeTakeFirst();
      return webhook?.disabled_at == null ? undefined : true;
    });
    await fixture.emit(["completed"]);
    fixture.advance(24 * HOUR);
    await fixture.reach([["failed", 1]]);
    expect(fixture.receiver.calls).to.have.length(1);
  });

  it("does not follow redirects, and says so", async () => {
    fixture.receiver.respond = ({ path }, response) =>
      response.writeHead(path === "/hook" ? 307 : 200, { location: "/elsewhere" }).end();
    fixture.start();
    await fixture.emit(["completed"]);
    await fixture.reach([["pending", 1]]);
    expect(fixture.receiver.calls.map(({ path }) => path)).to.deep.equal(["/hook"]);
    expect((await fixture.deliveries())[0]).to.include({
      response_status: 307,
      error: "the receiver answered 307: redirects are not followed. Register the URL to which it leads",
    });
  });

  for (const url of [
    "http://127.0.0.1:PORT/",
    "http://localhost:PORT/",
    "http://2130706433:PORT/",
    "http://0x7f.1:PORT/",
    "http://[::ffff:127.0.0.1]:PORT/",
    "http://10.0.0.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://[64:ff9b::7f00:1]/",
    "http://[2002:7f00:1::1]/",
  ]) {
    it(`does not connect to ${url} unless it is allowed, even if it was stored, and does not reveal an address`, async () => {
      await fixture.register(APP, url.replace("PORT", new URL(fixture.receiver.url).port));
      fixture.start({ allowedHosts: new Set(), allowLoopback: false });
      await fixture.emit(["completed"]);
      await fixture.reach([["pending", 1]]);
      expect(fixture.receiver.calls).to.deep.equal([]);
      expect((await fixture.deliveries())[0]).to.include({ response_status: null, error: BLOCKED });
    });
  }

  it("keeps the beginning of an answer that is endless and says that it is compressed", async () => {
    const closed = new Promise<void>((resolve) => {
      fixture.receiver.respond = (_call, response) => {
        response.writeHead(200, { "content-encoding": "gzip", "content-length": "100000000000" });
        const more = () => {
          while (!response.destroyed && response.write(Buffer.alloc(65_536, "<b>")));
        };
        response.on("drain", more);
        response.on("close", resolve);
        more();
      };
    });
    fixture.start();
    await fixture.emit(["completed"]);
    await fixture.reach([["delivered", 1]]);
    expect((await fixture.deliveries())[0]?.response_body).to.equal("<b>".repeat(342).slice(0, 1_024));
    await closed;
  });

  it("counts an answer whose body never ends as an answer, and keeps what came of it", async () => {
    fixture.receiver.respond = (_call, response) => response.writeHead(200).write("{");
    fixture.start();
    await fixture.emit(["completed"]);
    await fixture.reach([["delivered", 1]]);
    expect((await fixture.deliveries())[0]).to.include({ response_status: 200, response_body: "{" });
  });

  it("keeps an answer that comes byte by byte, and only that of the last try", async () => {
    fixture.receiver.respond = (_call, response) => {
      response.writeHead(500);
      for (const byte of Buffer.from("é\0\u001b[31m")) response.write(Buffer.of(byte));
      response.end();
    };
    fixture.start();
    await fixture.emit(["completed"]);
    await fixture.reach([["pending", 1]]);
    expect((await fixture.deliveries())[0]).to.include({
      response_body: "é\uFFFD\uFFFD[31m",
      error: "the receiver answered 500",
    });
    fixture.receiver.respond = (_call, response) => response.socket?.destroy();
    fixture.advance(HOUR);
    await fixture.reach([["pending", 2]]);
    expect((await fixture.deliveries())[0]).to.include({ response_status: null, response_body: null });
  });

  it("uses a connection again, once the answer has come to its end", async () => {
    const ports = new Set<number | undefined>();
    fixture.receiver.respond = (_call, response) => {
      ports.add(response.socket?.remotePort);
      response.end("thanks");
    };
    const agent = createOutboundAgent({ allowedHosts: new Set(), allowLoopback: true });
    for (let count = 1; count <= 3; count++) {
      const answer = await post(agent, { url: fixture.receiver.url, headers: {}, body: "{}", timeout: 15_000 });
      expect(answer).to.deep.equal({ status: 200, body: "thanks", error: null });
      // The agent passes over a connection in the turn of the event loop in which its answer ended.
      await pause(10);
    }
    await agent.destroy();
    expect(ports.size).to.equal(1);
  });

  it("gives up a call in time, and closes its connection", async () => {
    const closed = new Promise<void>((resolve) => {
      fixture.receiver.respond = (_call, response) => response.on("close", resolve);
    });
    const agent = createOutboundAgent({ allowedHosts: new Set(), allowLoopback: true });
    const calls = [300, 15_000].map((timeout) =>
      post(agent, { url: fixture.receiver.url, headers: {}, body: "{}", timeout }),
    );
    const late = "the receiver did not answer within 15 seconds";
    expect(await calls[0]).to.deep.equal({ status: null, body: null, error: late });
    await closed;
    await agent.destroy();
    // Its own time had not come.
    expect((await calls[1])?.error).to.match(/^connection failed/);
  });

  it("keeps no connection for as long as the receiver offers", async () => {
    // This server never closes a connection by itself.
    const server = createServer((_request, response) => {
      response.writeHead(204, { "keep-alive": "timeout=600" }).end();
    });
    const { url, stop } = await listenOnLoopback(server);
    const closed = once(server, "connection").then(([socket]) => once(socket as Socket, "close"));
    await fixture.register(APP, url);
    fixture.start();
    await fixture.emit(["completed"]);
    await fixture.reach([["delivered", 1]]);
    await closed;
    await stop();
  });

  it("delivers to other apps while the receiver of one app hangs", async () => {
    const hanging = await WebhookReceiver.listen();
    hanging.respond = () => undefined;
    await addApp(fixture.database, "slow");
    await fixture.register("slow", hanging.url);
    for (let count = 0; count < 40; count++) await fixture.emit(["completed"], "slow");
    await fixture.emit(["completed"]);
    fixture.start();
    await fixture.receiver.count(1);
    await hanging.count(4);
    expect(hanging.calls).to.have.length(4);
    await fixture.stop();
    await hanging.close();
  });

  it("delivers to an app while the receivers of ten others hang and use all shared places", async () => {
    const hanging = await WebhookReceiver.listen();
    hanging.respond = () => undefined;
    for (let index = 0; index < 10; index++) {
      const app = `slow-${index.toString()}`;
      await addApp(fixture.database, app);
      await fixture.register(app, hanging.url);
      for (let count = 0; count < 6; count++) await fixture.emit(["completed"], app);
    }
    fixture.start();
    await hanging.count(30);
    await fixture.emit(["completed"]);
    await fixture.receiver.count(1);
    // None of the others was answered, so the delivery did not wait for one of them.
    const states = (await fixture.deliveries()).slice(0, 60).map(({ status, tries }) => [status, tries]);
    expect(states).to.deep.equal(Array(60).fill(["pending", 0]));
    expect(hanging.calls).to.have.length.at.most(32);
    await fixture.stop();
    await hanging.close();
  });
});
