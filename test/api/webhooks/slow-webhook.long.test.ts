import { expect } from "chai";

import { WebhookReceiver } from "../../../scripts/scene/receiver.ts";
import { APP } from "../support/rows.ts";
import { useDispatcher } from "./support/use-dispatcher.ts";

/** Milliseconds after which the slow receiver answers: below the limit of an answer, above the time after which posts are released. */
const SLOW = 5_100;

describe("a webhook that answers after more than five seconds", () => {
  const fixture = useDispatcher();
  let good: WebhookReceiver;
  beforeEach(async () => {
    good = await WebhookReceiver.listen();
  });
  afterEach(() => good.close());

  it("delays no other webhook of the app, and gets each event once and in order", async () => {
    const { receiver: slow } = fixture;
    let answered = 0;
    slow.respond = (_call, response) => {
      setTimeout(() => {
        answered += 1;
        response.writeHead(204).end();
      }, SLOW);
    };
    await fixture.register(APP, good.url, undefined, "good");
    const ids = [await fixture.emit(["sent", "completed"]), await fixture.emit(["sent", "completed"])];
    fixture.start();
    await good.count(4);
    expect(answered).to.equal(0);
    await fixture.reach(Array.from({ length: 8 }, () => ["delivered", 1]));
    for (const { calls } of [slow, good]) {
      const types = Map.groupBy(calls, ({ body }) => body["request_id"]);
      expect([...types.keys()]).to.have.members(ids);
      for (const ofRequest of types.values())
        expect(ofRequest.map(({ body }) => body["type"])).to.deep.equal(["sent", "completed"]);
    }
  });
});
