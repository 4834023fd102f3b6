import { expect } from "chai";

import { WebhookReceiver } from "../../../scripts/scene/receiver.ts";
import { eventually } from "../../support/eventually.ts";
import { addApp, APP } from "../support/rows.ts";
import { useDispatcher } from "./support/use-dispatcher.ts";

const REQUESTS = 100;

describe("several webhooks of an app", () => {
  const fixture = useDispatcher();
  let good: WebhookReceiver;
  beforeEach(async () => {
    good = await WebhookReceiver.listen();
  });
  afterEach(() => good.close());

  const register = (id: string, url: string, app = APP) => fixture.register(app, url, undefined, id);

  it("get each event once and in order while one of them hangs and one refuses everything", async () => {
    const refusing = await WebhookReceiver.listen();
    try {
      // The first one hangs: it answers no call until the test ends.
      fixture.receiver.respond = () => undefined;
      refusing.status = 500;
      await register("refusing", refusing.url);
      await register("good", good.url);
      const ids: string[] = [];
      for (let count = 0; count < REQUESTS; count++) ids.push(await fixture.emit(["sent", "completed"]));
      fixture.start();
      await good.count(2 * REQUESTS);
      const types = Map.groupBy(good.calls, ({ body }) => body["request_id"]);
      expect([...types.keys()]).to.have.members(ids);
      for (const calls of types.values())
        expect(calls.map(({ body }) => body["type"])).to.deep.equal(["sent", "completed"]);
      // Each of them had its turns, and none of the calls that hang has ended.
      expect(refusing.calls).to.have.length.above(0);
      expect(fixture.receiver.calls.length).to.be.within(1, 4);
      const ended = await fixture.database.read
        .selectFrom("deliveries")
        .select("id")
        .where("webhook_id", "=", APP)
        .where("tries", ">", 0)
        .execute();
      expect(ended).to.deep.equal([]);
      // The same event has the same id everywhere.
      const idsOf = ({ calls }: WebhookReceiver) => new Set(calls.map(({ headers }) => headers["webhook-id"]));
      expect([...idsOf(good)]).to.include.members([...idsOf(refusing)]);
    } finally {
      await fixture.stop();
      await refusing.close();
    }
  });

  it("hang in one place each, beside three more of the app, and leave the others to other apps", async () => {
    fixture.receiver.respond = () => undefined;
    for (let count = 1; count < 10; count++) await register(`hook-${count.toString()}`, fixture.receiver.url);
    for (let count = 0; count < 40; count++) await fixture.emit(["completed"]);
    await addApp(fixture.database, "other");
    await register("other", good.url, "other");
    fixture.start();
    await fixture.receiver.count(13);
    for (let count = 0; count < 20; count++) await fixture.emit(["completed"], "other");
    await good.count(20);
    expect(fixture.receiver.calls).to.have.length(13);
  });

  it("lose their own deliveries only when one of them is gone", async () => {
    fixture.receiver.respond = (_call, response) => response.writeHead(410).end();
    await register("good", good.url);
    await fixture.emit(["sent", "completed"]);
    fixture.start();
    await good.count(2);
    const rows = await eventually(async () => {
      const all = await fixture.database.read.selectFrom("deliveries").selectAll().orderBy("seq").execute();
      return all.every(({ status }) => status !== "pending") ? all : undefined;
    });
    const states = rows.map(({ webhook_id, status }) => [webhook_id, status]);
    expect(states).to.have.deep.members([
      [APP, "failed"],
      ["good", "delivered"],
      [APP, "failed"],
      ["good", "delivered"],
    ]);
    const enabled = await fixture.database.read.selectFrom("webhooks").select(["id", "disabled_at"]).execute();
    expect(enabled.filter(({ disabled_at }) => disabled_at === null).map(({ id }) => id)).to.deep.equal(["good"]);
  });
});
