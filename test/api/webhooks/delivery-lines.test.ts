import { expect } from "chai";

import type { DueDelivery } from "../../../api/store/outbox/due-deliveries.ts";
import { DeliveryLines } from "../../../api/webhooks/delivery-lines.ts";

describe("DeliveryLines", () => {
  let now: number;
  let lines: DeliveryLines;
  beforeEach(() => {
    now = 0;
    lines = new DeliveryLines(() => now);
  });

  function deliveryOf(appId: string): DueDelivery {
    const url = "https://app.example/";
    return {
      id: `of ${appId}`,
      appId,
      eventId: "event",
      payload: "{}",
      tries: 0,
      fence: 1,
      url,
      secrets: "sealed",
      crashes: 0,
    };
  }

  /** Takes as many deliveries of an app as there is room for. @returns how many. */
  function take(app: string): number {
    const room = lines.room(0);
    const taken: DueDelivery[] = [];
    while (room.take(app)) taken.push(deliveryOf(app));
    lines.add(taken);
    return taken.length;
  }

  function start(): DueDelivery[] {
    const started: DueDelivery[] = [];
    for (let next = lines.next(); next !== null; next = lines.next()) started.push(next);
    return started;
  }

  it("take no more than the slots of an app whose receiver has not answered", () => {
    expect(take("dead")).to.equal(4);
    expect(start()).to.have.length(4);
    expect(take("dead")).to.equal(0);
    expect(lines.room(0).full).to.deep.equal(["dead"]);
  });

  it("start the next of one app, and none of another for it", () => {
    take("app");
    take("other");
    start();
    take("full");
    expect(lines.next("app")).to.equal(null);
    expect(lines.next("full")?.appId).to.equal("full");
  });

  it("take one more ahead for each answer", () => {
    take("app");
    for (const sent of start()) lines.sent(sent, "fast");
    expect(take("app")).to.equal(8);
    expect(start(), "in the slots").to.have.length(4);
    expect(lines.removeUnsent()).to.have.length(4);
  });

  it("start nothing that has waited too long, which another process may have taken meanwhile", () => {
    take("app");
    for (const sent of start()) lines.sent(sent, "fast");
    take("app");
    const [first] = start();
    now = 1_001;
    if (first !== undefined) lines.sent(first, "fast");
    expect(start()).to.deep.equal([]);
    expect(lines.removeOverdue()).to.have.length(4);
  });

  it("take nothing ahead after a receiver did not answer, and give a slow one a single slot", () => {
    take("app");
    for (const sent of start()) lines.sent(sent, "fast");
    take("app");
    const [first, ...others] = start();
    if (first === undefined) throw new Error("one is sent");
    for (const sent of others) lines.sent(sent, "fast");
    lines.sent(first, "slow");
    lines.removeUnsent();
    expect(take("app")).to.equal(1);
  });

  it("give back what has waited for a slot for more than a second, and take half as many ahead", () => {
    take("app");
    for (const sent of start()) lines.sent(sent, "fast");
    take("app");
    start();
    now = 1_000;
    expect(lines.removeOverdue()).to.deep.equal([]);
    now = 1_001;
    expect(lines.removeOverdue()).to.have.length(4);
    expect(take("app")).to.equal(2);
  });

  it("give a slot to each app while a few use all that are shared", () => {
    const apps = Array.from({ length: 40 }, (_, index) => `app ${index.toString()}`);
    for (const app of apps) expect(take(app), app).to.be.above(0);
    expect(new Set(start().map(({ appId }) => appId)).size).to.equal(40);
  });

  it("leave no room when everything that may be taken is taken", () => {
    expect(lines.room(2_048).free).to.equal(0);
    expect(lines.room(2_048).take("app")).to.equal(false);
  });
});
