import { expect } from "chai";

import { LANE_STUCK } from "../../../api/domain/conditions.ts";
import { type StoredReason, waitingFor } from "../../../api/domain/waiting-for.ts";

const NOW = 1_000_000;

describe("waitingFor", () => {
  const sends = { inUse: true, waitingFor: null, unmined: [{ id: 1, createdAt: NOW }] };
  const works = { isSending: true, indexer: null, lanes: [sends] };
  const ready = {
    status: "pending",
    ready_at: 0,
    lane: null,
    batch_id: null,
    block_number: null,
    waiting_for: null,
  } as const;
  const claimed = { ...ready, ready_at: null, lane: 0 };
  const sent = { ...claimed, lane: null, status: "processing", batch_id: 1 } as const;
  const mined = { ...sent, block_number: 7 };
  const later = (waiting_for: StoredReason | null) => ({ ...ready, ready_at: NOW + 1, waiting_for });
  const blocked = (reason: StoredReason) => ({ ...works, lanes: [{ ...sends, waitingFor: reason }] });
  const other = { ...sends, unmined: [] };
  const stuck = { ...works, lanes: [{ ...sends, unmined: [{ id: 1, createdAt: NOW - LANE_STUCK - 1 }] }] };

  const cases: Record<
    string,
    [ReturnType<typeof waitingFor>, Parameters<typeof waitingFor>[0], typeof works | object | null][]
  > = {
    "given a final request": [
      [null, { ...mined, status: "completed" }, blocked("low_funds")],
      [null, { ...ready, status: "failed" }, null],
    ],
    "given a request that is not sent": [
      ["queued", ready, works],
      ["simulation", claimed, works],
      ["media", { ...claimed, lane: null }, blocked("low_funds")],
      ["fees_too_high", ready, blocked("fees_too_high")],
      ["paused", { ...ready, status: "processing" }, blocked("paused")],
      ["lane_stuck", ready, stuck],
      ["gas_limit", later("gas_limit"), works],
      ["fees_too_high", later("gas_limit"), blocked("fees_too_high")],
      ["queued", later(null), works],
      // It is due again.
      ["queued", { ...later("gas_limit"), ready_at: NOW }, works],
    ],
    "given several lanes": [
      ["queued", ready, { ...works, lanes: [...blocked("low_funds").lanes, other] }],
      ["low_funds", ready, { ...works, lanes: [...blocked("low_funds").lanes, { ...other, inUse: false }] }],
      ["confirmations", sent, { ...works, lanes: [{ ...other, waitingFor: "low_funds" }, sends] }],
    ],
    "given a request that is sent": [
      ["confirmations", sent, works],
      ["confirmations", sent, blocked("paused")],
      ["low_funds", sent, blocked("low_funds")],
      ["lane_stuck", sent, stuck],
      // Its batch is closed.
      ["confirmations", { ...sent, batch_id: 2 }, stuck],
      ["nodes_disagree", sent, { ...works, indexer: "nodes_disagree" }],
      ["confirmations", mined, blocked("low_funds")],
      ["confirmations", mined, stuck],
      ["node_unavailable", mined, { ...works, indexer: "node_unavailable" }],
    ],
    "given that nothing is known": [
      ["unknown", ready, null],
      ["unknown", mined, null],
      ["unknown", claimed, { ...works, isSending: false }],
      ["queued", ready, { ...works, lanes: [] }],
    ],
  };
  for (const [given, rows] of Object.entries(cases))
    describe(given, () => {
      for (const [word, row, reasons] of rows)
        it(`is ${String(word)} for ${JSON.stringify(row)} and ${JSON.stringify(reasons)}`, () => {
          expect(waitingFor(row, reasons as typeof works | null, NOW)).to.equal(word);
        });
    });
});
