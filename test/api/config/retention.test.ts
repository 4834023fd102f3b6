import { expect } from "chai";

import { parsePruneSettings, parseSettings, SettingsError } from "../../../api/config/settings.ts";
import { problemsOf } from "./support/problems-of.ts";

describe("settings of the retention", () => {
  it("keeps rows forever, or for days, and refuses to forget an idempotency key within a week", () => {
    const kept = { RETAIN_DELIVERIES_DAYS: "forever", RETAIN_BATCH_ITEMS_DAYS: "1", RETAIN_IDEMPOTENCY_KEYS_DAYS: "7" };
    const { retain } = parseSettings(kept);
    expect(retain).to.include({ deliveries: null, batch_items: 1, idempotency_keys: 7 });
    const wrong = (least: number) => `must be forever, or a whole number of days from ${least.toString()} to 36500`;
    const short = { RETAIN_IDEMPOTENCY_KEYS_DAYS: "6", RETAIN_BATCH_ANSWERS_DAYS: "6", RETAIN_DELIVERIES_DAYS: "0" };
    expect(problemsOf(short)).to.deep.equal([
      `RETAIN_DELIVERIES_DAYS: ${wrong(1)}`,
      `RETAIN_IDEMPOTENCY_KEYS_DAYS: ${wrong(7)}`,
      `RETAIN_BATCH_ANSWERS_DAYS: ${wrong(7)}`,
    ]);
    for (const text of ["-1", "1.5", "never", "36501"])
      expect(problemsOf({ RETAIN_TEST_EVENTS_DAYS: text })).to.deep.equal([`RETAIN_TEST_EVENTS_DAYS: ${wrong(1)}`]);
    expect(() => parsePruneSettings({ RETAIN_TEST_EVENTS_DAYS: "0" })).to.throw(SettingsError, wrong(1));
    expect(parsePruneSettings({ LANES: "wrong" }).retain).to.deep.equal(parseSettings({}).retain);
  });
});
