import { expect } from "chai";

import type { ContractAddresses } from "../../../api/chain/contracts.ts";
import { withLocalOwner } from "../../../api/chain/local-contracts.ts";
import { connectRelay } from "../../../api/chain/relay-administration.ts";
import type { Database } from "../../../api/store/db/database.ts";
import { DatabaseError } from "../../../api/store/db/errors.ts";
import { readMeta, writeMeta } from "../../../api/store/db/meta.ts";
import { rejectionOf } from "../../support/rejection.ts";
import { useDoctor, worstOf } from "./support/doctor.ts";

const DAY = 86_400_000;

describe("doctor: database and chain", () => {
  const doctor = useDoctor();
  const { moneta } = doctor;

  const mint = () =>
    moneta.service.database.read
      .selectFrom("requests")
      .selectAll()
      .where("id", "=", doctor.mintId)
      .executeTakeFirstOrThrow();
  const lane = () => moneta.service.database.read.selectFrom("lanes").selectAll().executeTakeFirstOrThrow();

  describe("given contracts of another deployment", () => {
    const set = (contracts: object) => (database: Database) =>
      database.write((trx) => writeMeta(trx, "contracts", JSON.stringify(contracts)));

    it("reports contracts that do not belong together, and missing ones", async () => {
      const value = await readMeta(moneta.service.database.read, "contracts");
      const known = JSON.parse(value ?? "") as ContractAddresses;
      const withFactory = (address: string) => ({ ...known, factories: [{ ...known.factories[0], address }] });
      const swapped = { ...withFactory(known.delegate), delegate: known.factories[0].address };
      expect(worstOf(await doctor.examineWith(set(swapped), set(known)), "contracts").result).to.equal("problem");
      const missing = withFactory(doctor.collection.toLowerCase().replace(/....$/, "0000"));
      expect(worstOf(await doctor.examineWith(set(missing), set(known)), "contracts").words).to.match(
        /no contract at: factory/,
      );
    });

    it("says that damaged addresses are damaged, as each command does", async () => {
      const { contracts } = moneta.service;
      for (const damaged of [
        { ...contracts, relay: "0x12" },
        { ...contracts, factories: [] },
      ]) {
        try {
          await doctor.change(set(damaged));
          const error = await rejectionOf(doctor.examine());
          expect(error).to.be.instanceOf(DatabaseError);
          expect(error.message).to.match(/^The addresses of the contracts in the database .* are damaged\. /);
        } finally {
          await doctor.change(set(contracts));
        }
      }
    });

    it("reports a relay address without code", async () => {
      const { contracts } = moneta.service;
      const relay = doctor.collection.toLowerCase().replace(/....$/, "0000");
      const examination = await doctor.examineWith(set({ ...contracts, relay }), set(contracts));
      expect(worstOf(examination, "lanes").words).to.match(/^No relay answers at 0x/);
    });
  });

  it("given fees above MAX_FEE_GWEI: says that nothing is sent, with both figures", async () => {
    const { provider } = moneta.node;
    await provider.send("hardhat_setNextBlockBaseFeePerGas", ["0x1bf08eb000"]);
    await provider.send("hardhat_mine", []);
    const words = /^Gas costs 1\d\d(\.\d+)? gwei, and MAX_FEE_GWEI allows 100: nothing is sent\./;
    const found = worstOf(await doctor.examine({ MAX_FEE_GWEI: "100" }), "fees");
    expect(found.words).to.match(words);
    expect(found.result).to.equal("problem");
    expect(worstOf(await doctor.examine({ MAX_FEE_GWEI: "200" }), "fees").result).to.equal("ok");
  });

  it("given a lane without enough funds: warns when funds are low, and reports a problem when they do not pay for a batch", async () => {
    const { node } = moneta;
    const { address } = await lane();
    const give = (wei: bigint) => node.provider.send("hardhat_setBalance", [address, `0x${wei.toString(16)}`]);
    const before = await node.provider.getBalance(address);
    const { baseFeePerGas } = (await node.provider.getBlock("latest")) ?? {};
    const tip = BigInt((await node.provider.send("eth_maxPriorityFeePerGas", [])) as string);
    // What it has sent used less than this.
    const usual = 250_000n * (2n * (baseFeePerGas ?? 0n) + tip);
    const funds = async (wei: bigint) => {
      await give(wei);
      return worstOf(await doctor.examine(), "funds");
    };
    const low = await funds(usual * 3n);
    expect(low.result).to.equal("warning");
    expect(low.words).to.match(/is low on funds: .* enough for 3 transactions like the recent ones/);
    expect((await funds(usual)).words).to.match(/enough for 1 transaction like/);
    expect((await funds(usual / 2n)).result).to.equal("problem");
    expect((await funds(0n)).words).to.match(/has no funds/);
    expect((await funds(before)).result).to.equal("ok");
  });

  it("given a relay that refuses the lane: says what the relay's owner must do", async () => {
    const { address } = await lane();
    await withLocalOwner(moneta.node.url, async (owner) => {
      const relay = connectRelay(moneta.service.contracts.relay, owner);
      await (await relay.setOperator(address, false)).wait();
      expect(worstOf(await doctor.examine(), "lanes").words).to.match(/not an operator .* call setOperator/);
      await (await relay.setOperator(address, true)).wait();
      await (await relay.pause()).wait();
      expect(worstOf(await doctor.examine(), "lanes").words).to.match(/relay is paused: .* call unpause/);
      await (await relay.unpause()).wait();
    });
    expect(worstOf(await doctor.examine(), "lanes").result).to.equal("ok");
  });

  it("given a nonce on chain that the database does not know: reports an old backup", async () => {
    const { lane: index, next_nonce: nonce } = await lane();
    const set = (next: number) => (database: Database) =>
      database.write((trx) => trx.updateTable("lanes").set({ next_nonce: next }).where("lane", "=", index).execute());
    const examination = await doctor.examineWith(set(nonce - 1), set(nonce));
    expect(worstOf(examination, "lanes").words).to.match(/is an old backup, .* reconcile/);
  });

  describe("given request numbers that database and relay disagree on", () => {
    const change = (fields: Record<string, string | number | null>) => (database: Database) =>
      database.write((trx) => trx.updateTable("requests").set(fields).where("id", "=", doctor.mintId).execute());
    it("reports a completed request that the relay did not run", async () => {
      const { number } = await mint();
      const examination = await doctor.examineWith(change({ number: "1" }), change({ number }));
      expect(worstOf(examination, "numbers").words).to.match(
        new RegExp(`^1 request is completed in the database but not on chain: ${doctor.mintId}`),
      );
    });

    it("reports a request that ran although it was never sent, or failed before sending", async () => {
      const { seq: _seq, ...fields } = await mint();
      // Ready far in the future, so that the relayer of the running service does not send it.
      const pending = { status: "pending", ready_at: Date.now() + 300_000, batch_id: null };
      const early = await doctor.examineWith(change(pending), change(fields));
      expect(worstOf(early, "numbers").words).to.match(/executed on chain but not sent by this database/);
      const unsent = { status: "failed", block_number: null, transaction_hash: null, batch_id: null };
      const failed = await doctor.examineWith(change(unsent), change(fields));
      expect(worstOf(failed, "numbers").words).to.match(/executed on chain but stored as failed before sending/);
    });
  });

  it("given a completed mint whose token a deep reorg removed: reports a problem that names the request", async () => {
    const set = (requestId: string | null) => (database: Database) =>
      database.write((trx) =>
        trx
          .updateTable("nfts")
          .set({ request_id: requestId })
          .where("contract", "=", doctor.collection)
          .where("token_id", "=", "1")
          .execute(),
      );
    const finding = worstOf(await doctor.examineWith(set(null), set(doctor.mintId)), "effects");
    expect(finding.result).to.equal("problem");
    expect(finding.words).to.match(new RegExp(`undid 1 completed request\\. request ${doctor.mintId}`));
  });

  it("given a completed mint whose outcome a deep reorg changed: reports a problem that names the request, for 7 days", async () => {
    const { app_id } = await mint();
    const correctedBefore = (days: number) => (database: Database) => {
      const created_at = Date.now() - days * DAY;
      const ids = { id: "fix", app_id, position: null, request_id: doctor.mintId };
      return database.write((trx) =>
        trx
          .insertInto("events")
          .values({ ...ids, type: "corrected", body: "{}", created_at })
          .execute(),
      );
    };
    const undo = (database: Database) =>
      database.write((trx) => trx.deleteFrom("events").where("id", "=", "fix").execute());
    const effects = async (days: number) => worstOf(await doctor.examineWith(correctedBefore(days), undo), "effects");
    expect((await effects(1)).words).to.match(
      new RegExp(`outcome of the final request ${doctor.mintId} \\(event "corrected"\\)`),
    );
    expect((await effects(8)).result).to.equal("ok");
  });
});
