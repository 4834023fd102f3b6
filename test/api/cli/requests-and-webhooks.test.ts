import { expect } from "chai";

import { recordTries } from "../../../api/store/outbox/deliveries.ts";
import { ensureLane } from "../../../api/store/sending/lanes.ts";
import { expectInvalid } from "../support/expect.ts";
import { RELAY } from "../support/api.ts";
import { follow } from "../support/follow.ts";
import { useCli } from "./support/use-cli.ts";

interface Delivery {
  delivery_id: string;
  webhook_id: string;
  event_id: string;
  event_type: string;
  status: string;
  error: string | null;
}

const COLLECTION = { type: "ERC721", name: "A", symbol: "AAA" };

describe("command line: requests, webhooks and contracts", () => {
  const cli = useCli();

  describe("request", () => {
    it("show prints a request without its unlockable content", async () => {
      const { request_id: id = "" } = (await cli.api.post("/v1/collections", { ...COLLECTION, name: "Shown" })).body;
      const shown = await cli.json<{ command: { name: string } }>("request", "show", id);
      expect(shown.command.name).to.equal("Shown");
      expect(shown).to.not.have.property("unlockable");
      expect(await cli.run("request", "show", id)).to.contain(id);
      expect(await cli.refusal("request", "show", "none")).to.contain("no request with the id none");
    });

    it("fail ends a request that was never signed, with its event, and refuses others", async () => {
      const make = async () => (await cli.api.post("/v1/collections", COLLECTION)).body.request_id as string;
      const [id, signed, claimed] = [await make(), await make(), await make()];
      expect(await cli.json("request", "fail", id)).to.deep.equal({
        request_id: id,
        status: "failed",
        error_code: "ended_by_operator",
      });
      const shown = await cli.api.get(`/v1/requests/${id}`);
      expect(shown.body).to.include({ status: "failed", error_code: "ended_by_operator" });
      const events = await cli.api.database.read.selectFrom("events").select(["type", "request_id"]).execute();
      expect(events).to.deep.equal([{ type: "error", request_id: id }]);
      const set = (request: string, fields: object) =>
        cli.api.database.write((trx) => trx.updateTable("requests").set(fields).where("id", "=", request).execute());
      await set(signed, { status: "processing" });
      await cli.api.database.write((trx) => ensureLane(trx, 0, RELAY, 0));
      await set(claimed, { lane: 0 });
      expect(await cli.refusal("request", "fail", signed)).to.contain("its transaction may still run it");
      expect(await cli.refusal("request", "fail", claimed)).to.contain("Run this command again.");
      expect(await cli.refusal("request", "fail", id)).to.contain("is final already");
      expect(await cli.refusal("request", "fail", "none")).to.contain("no request with the id none");
      expect((await cli.api.get(`/v1/requests/${claimed}`)).body).to.include({ status: "pending" });
    });

    it("prints a stored reference that gives the terminal orders, and imitates a line, as one line of text", async () => {
      const { request_id: id = "" } = (await cli.api.post("/v1/collections", { ...COLLECTION, reference: "r" })).body;
      const reference = "\u001b]0;owned\u0007\u009b2J\u202e\nstatus:           completed";
      await cli.api.database.write((trx) => trx.updateTable("requests").set({ reference }).execute());
      for (const words of [["show", id], ["list"]]) {
        const shown = await cli.run("request", ...words);
        expect(shown.replaceAll("\n", "")).not.to.match(/[\p{Cc}\p{Bidi_Control}]/u);
        expect(shown)
          .to.contain(id)
          .and.not.to.match(/^status: +completed/m);
        const json = await cli.run("request", ...words, "--json");
        expect(json.trimEnd()).not.to.match(/[\p{Cc}\p{Bidi_Control}]/u);
        expect([JSON.parse(json)].flat()).to.have.nested.property("[0].reference", reference);
      }
      expect(await cli.run("request", "show", id)).to.contain("\\u001b]0;owned\\u0007");
    });

    it("list filters by app, status, type and reference", async () => {
      const { body: mine } = await cli.api.post("/v1/collections", { ...COLLECTION, reference: "order-7" });
      const { body: theirs } = await cli.api.post("/v1/collections", COLLECTION, { token: cli.api.other.token });
      const list = async (...words: string[]) =>
        (await cli.json<{ request_id: string }[]>("request", "list", ...words)).map((row) => row.request_id);
      expect(await list()).to.deep.equal([theirs.request_id, mine.request_id]);
      const own = ["--app", "first", "--status", "pending", "--type", "collection"];
      expect(await list(...own)).to.deep.equal([mine.request_id]);
      expect(await list("--reference", "order-7")).to.deep.equal([mine.request_id]);
      expect(await list("--type", "mint")).to.deep.equal([]);
      expect(await list("--status", "completed")).to.deep.equal([]);
      expect(await list("--limit", "1")).to.have.length(1);
      expect(await cli.refusal("request", "list", "--status", "lost")).to.contain("Allowed choices");
      expect(await cli.refusal("request", "list", "--limit", "0")).to.contain("1 to 10000");
    });
  });

  describe("webhook", () => {
    beforeEach(async () => {
      await cli.api.call("PUT", "/v1/webhook", { body: { url: "https://hooks.example/nft", events: ["error"] } });
    });

    it("show prints the URL and events without the secrets", async () => {
      const shown = await cli.json<object>("webhook", "show", "first");
      expect(shown).to.deep.include({
        app_id: cli.api.app.id,
        url: "https://hooks.example/nft",
        events: ["error"],
        disabled_at: null,
      });
      expect(Object.keys(shown)).to.not.include("secrets");
      expect(await cli.run("webhook", "show", "first")).to.match(/^disabled: +no$/m);
      expect(await cli.refusal("webhook", "show", "second")).to.equal("The app second has no webhook.");
    });

    it("list prints all webhooks, and --id chooses one of them", async () => {
      const { body } = await cli.api.post("/v1/webhooks", { url: "https://hooks.example/other", description: "other" });
      const { id = "" } = body;
      const listed = await cli.json<{ id: string }[]>("webhook", "list", "first");
      expect(listed.map((one) => one.id)).to.deep.equal([cli.api.app.id, id]);
      expect(await cli.run("webhook", "list", "first")).to.contain("https://hooks.example/other");
      expect(await cli.json("webhook", "show", "first", "--id", id)).to.deep.equal(listed[1]);
      await cli.api.post(`/v1/webhooks/${id}/test`, {});
      await cli.api.post("/v1/webhook/test", {});
      const deliveries = async (...words: string[]) =>
        (await cli.json<Delivery[]>("webhook", "deliveries", "first", ...words)).map((one) => one.webhook_id);
      expect(await deliveries()).to.deep.equal([cli.api.app.id, id]);
      expect(await deliveries("--id", id)).to.deep.equal([id]);
      await cli.json("webhook", "disable", "first", "--id", id);
      expect((await cli.api.get(`/v1/webhooks/${id}`)).body)
        .to.have.property("disabled_at")
        .that.is.a("string");
      expect((await cli.api.get("/v1/webhook")).body).to.include({ disabled_at: null });
      await cli.api.call("DELETE", "/v1/webhook");
      expect(await deliveries(), "also those of the first, which is removed").to.deep.equal([cli.api.app.id, id]);
      expect(await cli.refusal("webhook", "show", "first")).to.match(/no first webhook.*`webhook list first`/);
      expect(await cli.refusal("webhook", "show", "second", "--id", id)).to.equal("The app second has no webhook.");
    });

    it("deliveries lists deliveries, and redeliver queues one again", async () => {
      const { body } = await cli.api.post("/v1/webhook/test", {});
      const [queued] = await cli.json<Delivery[]>("webhook", "deliveries", "first");
      expect(queued).to.include({ event_type: "test", status: "pending" });
      const id = queued?.delivery_id ?? "";
      expect(body).to.include({ id });
      const result = { responseStatus: 500, responseBody: null, error: "the receiver answered 500", nextAt: null };
      await cli.api.database.write((trx) => recordTries(trx, [{ id, fence: 0, result }], Date.now()));
      expect(await cli.json("webhook", "deliveries", "first", "--status", "pending")).to.deep.equal([]);
      expect(await cli.run("webhook", "deliveries", "first", "--status", "failed")).to.contain("answered 500");

      const again = await cli.json<Delivery>("webhook", "redeliver", id);
      expect(again).to.include({ event_id: queued?.event_id, status: "pending" });
      expect(again.delivery_id).to.not.equal(id);
      expect(await cli.json<Delivery[]>("webhook", "deliveries", "first", "--limit", "1")).to.have.length(1);
      expect(await cli.json("webhook", "deliveries", "second")).to.deep.equal([]);
      expect(await cli.refusal("webhook", "redeliver", "none")).to.contain("no delivery with the id none");
    });

    it("disable stops deliveries until the app registers the webhook again", async () => {
      const { body } = await cli.api.post("/v1/webhook/test", {});
      const disabled = await cli.json<{ disabled_at: string | null }>("webhook", "disable", "first");
      expect(disabled.disabled_at).to.be.a("string");
      expect((await cli.api.get("/v1/webhook")).body).to.include({ disabled_at: disabled.disabled_at });
      const [given] = await cli.json<Delivery[]>("webhook", "deliveries", "first");
      expect(given).to.include({ status: "failed", error: "an operator disabled the webhook" });
      expectInvalid(await cli.api.post("/v1/webhook/test", {}), { webhook: "disabled" });
      expect(await cli.refusal("webhook", "redeliver", (body as { id: string }).id)).to.contain("is disabled");
      await cli.api.call("PUT", "/v1/webhook", { body: { url: "https://hooks.example/nft" } });
      expect((await cli.api.post("/v1/webhook/test", {})).status).to.equal(200);
      expect(await cli.refusal("webhook", "disable", "nobody")).to.contain("no app");
    });
  });

  it("contract lists the contracts that apps follow, and stops following one", async () => {
    const contract = await follow(cli.api.database, { app: cli.api.app.id, name: "Elsewhere" });
    const all = await cli.json<object[]>("contract", "list");
    expect(all).to.deep.equal(await cli.json("contract", "list", "--app", "first"));
    expect(all[0]).to.include({ app_id: cli.api.app.id, address: contract, type: "ERC721", state: "followed" });
    expect(await cli.run("contract", "list", "--app", "second")).to.contain("No app follows");
    expect(await cli.refusal("contract", "unfollow", "second", contract)).to.contain("does not follow");
    expect(await cli.refusal("contract", "unfollow", "first", "cats")).to.contain("Must be an address");
    const unfollowed = await cli.json("contract", "unfollow", "first", contract.toLowerCase());
    expect(unfollowed).to.deep.equal({ app_id: cli.api.app.id, address: contract });
    expect(await cli.json("contract", "list")).to.deep.equal([]);
  });
});
