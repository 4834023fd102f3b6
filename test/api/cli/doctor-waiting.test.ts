import { expect } from "chai";

import type { DeliveryRow } from "../../../api/store/db/schema.ts";
import { WebhookReceiver } from "../../../scripts/scene/receiver.ts";
import { useDoctor, worstOf } from "./support/doctor.ts";

const HOUR = 3_600_000;

describe("doctor: waiting work", () => {
  const doctor = useDoctor();
  const { moneta } = doctor;
  let delivery: Omit<DeliveryRow, "seq" | "fence" | "id" | "request_id" | "next_at">;
  let longAgo: number;

  before(async () => {
    const receiver = await WebhookReceiver.listen();
    await moneta.api.ok("PUT", "/v1/webhook", { url: receiver.url });
    const { read } = moneta.service.database;
    const { id: app } = await read.selectFrom("apps").select("id").executeTakeFirstOrThrow();
    const event = await read.selectFrom("events").select("seq").limit(1).executeTakeFirstOrThrow();
    await moneta.stop();
    await receiver.close();
    longAgo = Date.now() - 2 * HOUR;
    delivery = {
      event_seq: event.seq,
      app_id: app,
      status: "pending",
      tries: 1,
      response_status: null,
      response_body: null,
      error: null,
      created_at: longAgo,
      updated_at: longAgo,
    };
  });
  afterEach(() => doctor.change((database) => database.write((trx) => trx.deleteFrom("deliveries").execute())));

  function insert(...rows: Pick<DeliveryRow, "id" | "request_id" | "next_at">[]): Promise<void> {
    return doctor.change((database) =>
      database.write((trx) =>
        trx
          .insertInto("deliveries")
          .values(rows.map((row) => ({ ...delivery, ...row })))
          .execute(),
      ),
    );
  }

  describe("given a delivery that no process sends", () => {
    it("warns that it is overdue", async () => {
      await insert({ id: "late", request_id: null, next_at: longAgo });
      const finding = worstOf(await doctor.examine(), "outbox");
      expect(finding.result).to.equal("warning");
      expect(finding.words).to.match(/^1 webhook delivery is overdue and not being sent/);
    });
  });

  describe("given a due delivery behind an earlier event of its request that waits for a retry", () => {
    it("counts both as waiting, not as overdue", async () => {
      await insert(
        { id: "first", request_id: doctor.mintId, next_at: Date.now() + HOUR },
        { id: "second", request_id: doctor.mintId, next_at: longAgo },
      );
      const finding = worstOf(await doctor.examine(), "outbox");
      expect(finding.words).to.equal("2 webhook deliveries are waiting for the next try, the oldest for 2 h");
      expect(finding.result).to.equal("ok");
    });
  });

  describe("given that no service runs", () => {
    it("reports the waiting requests and the blocks that were not read", async () => {
      await doctor.change((database) =>
        database.write((trx) =>
          trx
            .updateTable("requests")
            .set({ status: "pending", ready_at: longAgo, created_at: longAgo })
            .where("id", "=", doctor.mintId)
            .execute(),
        ),
      );
      await moneta.node.provider.send("hardhat_mine", ["0x3", "0xe10"]);
      const examination = await doctor.examine();
      const backlog = worstOf(examination, "backlog");
      expect(backlog.words).to.match(/^1 request is waiting to be sent, the oldest for 2 h/);
      expect(backlog.result).to.equal("problem");
      expect(worstOf(examination, "indexer").words).to.match(/3 blocks behind the head \(2 h\)/);
    });
  });
});
