import { expect } from "chai";
import { pino } from "pino";

import type { Examination } from "../../../api/checks/examine.ts";
import { prune } from "../../../api/operate/prune.ts";
import type { Reconciliation } from "../../../api/operate/reconcile/reconcile.ts";
import { WebhookReceiver } from "../../../scripts/scene/receiver.ts";
import { eventually } from "../../support/eventually.ts";
import { useService } from "../../support/use-service.ts";
import { jsonOfCli } from "../cli/support/run.ts";

const DAY = 86_400_000;
const MINTS = 80;

describe("pruning while many calls arrive", () => {
  // The pruner, `doctor` and `reconcile` look at the whole database.
  const moneta = useService({ node: "deployed" });
  const { api } = moneta;
  let receiver: WebhookReceiver;

  before(async () => {
    receiver = await WebhookReceiver.listen();
    await api.ok("PUT", "/v1/webhook", { url: receiver.url });
  });
  after(() => receiver.close());

  it("deletes what is delivered at once, and every call completes, with every event and right totals", async () => {
    const collection_address = await api.collection({ type: "ERC721" });
    const to_address = await api.wallet();
    const stop = new AbortController();
    let deleted = 0;
    // To the pruner, every delivery is old as soon as it was accepted.
    const deps = {
      database: moneta.service.database,
      retain: { days: 30, failedDays: 30 },
      logger: pino({ level: "silent" }),
      now: () => Date.now() + 40 * DAY,
    };
    const round = () =>
      prune(deps, stop.signal, (_kind, { rows }) => {
        deleted += rows;
      });
    const pruning = (async () => {
      while (!stop.signal.aborted) {
        await round();
      }
    })();
    try {
      const accepted = await Promise.all(
        Array.from({ length: MINTS }, () => api.accept("/v1/nfts", { collection_address, to_address })),
      );
      const settled = await Promise.all(accepted.map((id) => api.settled(id)));
      expect(settled.filter(({ status }) => status !== "completed")).to.deep.equal([]);
      for (const id of accepted) {
        await receiver.received(({ body }) => body["request_id"] === id && body["type"] === "completed");
      }
      await eventually(() => Promise.resolve(deleted > MINTS ? true : undefined));
    } finally {
      stop.abort();
      await pruning;
    }
    const ids = receiver.calls.map(({ headers }) => headers["webhook-id"]);
    expect(new Set(ids).size, "each event is sent once").to.equal(ids.length);
    const { findings } = await jsonOfCli<Examination>(moneta.env, "doctor");
    expect(findings.filter(({ result }) => result === "problem")).to.deep.equal([]);
    const { comparison } = await jsonOfCli<Reconciliation>(moneta.env, "reconcile");
    expect(comparison.told).to.deep.equal([]);
  });
});
