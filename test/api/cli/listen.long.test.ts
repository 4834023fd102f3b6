import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

import { expect } from "chai";

import { verifyWebhook } from "../../../client/webhooks.ts";
import { freePort } from "../../../scripts/scene/loopback.ts";
import { TestProcess } from "../../support/process.ts";
import { rejectionOf } from "../../support/rejection.ts";
import type { ServiceFixture } from "../../support/service.ts";
import { useFolder } from "../../support/use-folder.ts";
import { useService } from "../../support/use-service.ts";
import { jsonOfCli, runCli } from "./support/run.ts";

const SECRET = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

/** A receiver on the developer's machine. */
class LocalReceiver {
  readonly calls: { headers: IncomingHttpHeaders; body: string }[] = [];
  status = 204;
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => {
      void text(request).then((body) => {
        this.calls.push({ headers: request.headers, body });
        response.writeHead(this.status, { location: "http://127.0.0.1:9/" }).end();
      });
    });
  }

  async listen(port = 0): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(port, "127.0.0.1", resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  get types(): string[] {
    return this.calls.map(({ body }) => (JSON.parse(body) as { type: string }).type);
  }

  get requests(): string[] {
    return this.calls.map(({ body }) => (JSON.parse(body) as { request_id: string }).request_id);
  }
}

describe("listen", () => {
  const moneta = useService();
  const { api } = moneta;
  const folder = useFolder();
  let receiver: LocalReceiver;
  let listening: TestProcess | null = null;
  beforeEach(async () => {
    // Tests look at all events of their app.
    await moneta.newApp();
    receiver = new LocalReceiver();
  });
  afterEach(async () => {
    await listening?.end("SIGKILL");
    await receiver.close();
  });

  const listenAt = ({ baseUrl, app }: ServiceFixture, port: number, ...options: string[]) => {
    const forwardTo = `http://127.0.0.1:${port.toString()}/hook`;
    const words = ["listen", "--forward-to", forwardTo, "--url", baseUrl, "--secret", SECRET, ...options];
    listening = new TestProcess(["api/cli/main.ts", ...words], { MONETA_TOKEN: app.token });
    return listening;
  };
  const listen = (port: number, ...options: string[]) => listenAt(moneta, port, ...options);
  const collection = () => api.collection({ type: "ERC721" });

  it("delivers each event signed like a webhook, and prints a line", async () => {
    const command = listen(await receiver.listen());
    await command.printed(/Forwarding events/);
    await collection();
    await command.printed(/completed {2}[0-9a-f]{64} {2}204 in \d+ ms/);
    expect(receiver.types).to.deep.equal(["sent", "completed"]);
    for (const { headers, body } of receiver.calls) {
      expect(headers).to.include({ "content-type": "application/json", "user-agent": "moneta" });
      const event = await verifyWebhook(body, headers, SECRET);
      expect(event.id).to.equal(headers["webhook-id"]);
    }
    expect(command.output).to.match(new RegExp(`^Signing secret: ${SECRET.replace("+", "\\+")}$`, "m"));
  });

  it("waits for a closed port, and loses nothing", async () => {
    const port = await freePort();
    const command = listen(port);
    await command.printed(/Forwarding events/);
    await collection();
    await command.printed(/cannot be reached \(ECONNREFUSED\)/);
    await collection();
    await receiver.listen(port);
    await command.printed(/(completed[^]*){2}/);
    expect(receiver.types).to.deep.equal(["sent", "completed", "sent", "completed"]);
  });

  describe("given a service that restarts", () => {
    // It is stopped, and starts again at the same port.
    const own = useService({ start: false });
    const create = () => own.api.collection({ type: "ERC721" });

    it("continues, and again where Ctrl-C ended it", async () => {
      const port = await receiver.listen();
      const PORT = (await freePort()).toString();
      await own.start({ PORT });
      const command = listenAt(own, port);
      await command.printed(/Forwarding events/);
      await create();
      await command.printed(/completed/);
      await own.stop();
      await command.printed(/Trying again/);
      await own.start({ PORT });
      await create();
      await command.printed(/(completed[^]*){2}/);
      expect(await command.end("SIGINT")).to.equal(0);
      const [, cursor = ""] = await command.printed(/Continue with --after (\S+)/);
      const before = receiver.calls.length;
      await create();
      const again = listenAt(own, port, "--after", cursor);
      await again.printed(/completed/);
      expect(receiver.types.slice(before)).to.deep.equal(["sent", "completed"]);
      expect(new Set(receiver.requests).size).to.equal(3);
      expect(receiver.calls).to.have.length(6);
    });
  });

  it("begins at the start, filters types, shows refusals, and follows no redirect", async () => {
    await collection();
    receiver.status = 302;
    const command = listen(await receiver.listen(), "--from-start", "--type", "completed", "--json");
    const [line] = await command.printed(/\{"cursor".*\}/);
    expect(JSON.parse(line)).to.include({ type: "completed", request_id: receiver.requests[0] });
    expect(line).to.match(/"answer":"302 in \d+ ms: redirects are not followed"/);
    expect(receiver.types).to.deep.equal(["completed"]);
  });

  it("says where to continue when its token is revoked", async () => {
    const command = listen(await receiver.listen());
    await command.printed(/Forwarding events/);
    await collection();
    await command.printed(/completed/);
    const [token] = await jsonOfCli<{ token_id: string }[]>(moneta.env, "token", "list", moneta.app.appId);
    await runCli(moneta.env, "token", "revoke", token!.token_id);
    expect(await command.gone()).to.equal(1);
    expect(command.output)
      .to.match(/Stopped\. Continue with --after \S+/)
      .and.to.include("401 unauthorized");
  });

  it("says what is wrong with its options", async () => {
    const to = ["--forward-to", "http://127.0.0.1:9/"];
    const reason = async (...words: string[]) =>
      (await rejectionOf(runCli({ DATA_DIR: folder.path }, "listen", ...words))).message;
    expect(await reason(...to)).to.match(/--token/);
    expect(await reason("--forward-to", "file:///etc/passwd")).to.match(/begins with http/);
    expect(await reason(...to, "--secret", "secret")).to.match(/whsec_/);
    expect(await reason(...to, "--token", "moneta_wrong", "--url", moneta.baseUrl)).to.match(/401 unauthorized/);
    expect(await reason(...to, "--token", moneta.app.token, "--url", moneta.baseUrl, "--after", "1")).to.match(
      /Last-Event-ID/,
    );
  });
});
