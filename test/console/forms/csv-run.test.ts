import { expect } from "chai";

import { MAX_ITEMS } from "../../../console/forms/csv/chunks.ts";
import { failedRowsFile, withOutcomes } from "../../../console/forms/csv/outcomes.ts";
import { newProgress, type Progress, readProgress, rowsIn, saveProgress } from "../../../console/forms/csv/progress.ts";
import { type BatchAnswer, type BatchResult, type RunTools, sendRows } from "../../../console/forms/csv/run.ts";
import type { Table } from "../../../console/forms/csv/table.ts";
import { MAX_BATCH_ITEMS } from "../../../api/config/limits.ts";

const NOW = new Date("2026-11-23T00:00:00Z");

/** A service that mints each item once for each key, and loses the answers that `loses` names by the number of the call. */
function fakeService(decide: (item: number) => BatchResult, loses: (call: number) => boolean = () => false) {
  const answers = new Map<string, { body: string; results: BatchResult[] }>();
  const sizes: number[] = [];
  const minted: number[] = [];
  const send: RunTools["send"] = ({ key }, items) => {
    sizes.push(items.length);
    const body = JSON.stringify(items);
    const earlier = answers.get(key);
    expect(earlier?.body ?? body).to.equal(body);
    const results = earlier?.results ?? items.map(({ n }) => decide(n as number));
    if (earlier === undefined) {
      answers.set(key, { body, results });
      results.forEach((result, index) => {
        if (result.request_id !== undefined) minted.push(items[index]?.["n"] as number);
      });
    }
    const lost = loses(sizes.length);
    return Promise.resolve<BatchAnswer>(
      lost ? { is: "unknown", message: "No answer." } : { is: "answered", results, retryAfter: 0 },
    );
  };
  return { send, sizes, minted };
}

function toolsOf(count: number, send: RunTools["send"]): RunTools & { kept: Progress[] } {
  const kept: Progress[] = [];
  return {
    items: Array.from({ length: count }, (_, n) => ({ n })),
    send,
    kept,
    keep: (progress) => kept.push(progress),
    columnOf: (_row, field) => field,
    wait: () => Promise.resolve(),
    signal: new AbortController().signal,
  };
}

function accepted(n: number): BatchResult {
  return { request_id: `r${n.toString()}` };
}

describe("the import of a CSV file", () => {
  it("knows how many items the API takes at once", () => {
    expect(MAX_ITEMS).to.equal(MAX_BATCH_ITEMS);
  });

  it("sends chunks of at most 1,000 rows", async () => {
    const service = fakeService(accepted);
    const tools = toolsOf(2_500, service.send);
    expect(await sendRows(newProgress("run", 2_500, NOW), tools)).to.equal(null);
    expect(service.sizes).to.deep.equal([1_000, 1_000, 500]);
    expect(rowsIn(tools.kept.at(-1) ?? newProgress("", 0, NOW), "accepted")).to.have.lengthOf(2_500);
  });

  it("keeps chunks below the limit of a body", async () => {
    const service = fakeService(accepted);
    const tools = toolsOf(3, service.send);
    const items = tools.items.map((item) => ({ ...item, description: "x".repeat(1_900_000) }));
    await sendRows(newProgress("run", 3, NOW), { ...tools, items });
    expect(service.sizes).to.deep.equal([2, 1]);
  });

  it("continues after a lost answer without minting twice", async () => {
    const service = fakeService(accepted, (call) => call === 2);
    const tools = toolsOf(2_500, service.send);
    expect(await sendRows(newProgress("run", 2_500, NOW), tools)).to.equal("No answer.");
    const stored = JSON.parse(JSON.stringify(tools.kept.at(-1))) as Progress;
    expect(rowsIn(stored, "sent")).to.have.lengthOf(1_000);
    const again = toolsOf(2_500, service.send);
    expect(await sendRows(stored, again)).to.equal(null);
    expect(service.minted).to.have.lengthOf(2_500);
    expect(new Set(service.minted).size).to.equal(2_500);
    expect(rowsIn(again.kept.at(-1) ?? stored, "accepted")).to.have.lengthOf(2_500);
  });

  it("stores the key before it sends", async () => {
    const seen: string[] = [];
    const service = fakeService(accepted);
    const tools = toolsOf(1, (batch, items) => {
      expect(tools.kept.at(-1)?.open).to.deep.equal(batch);
      seen.push(batch.key);
      return service.send(batch, items);
    });
    await sendRows(newProgress("run", 1, NOW), tools);
    expect(seen).to.deep.equal(["import-run-0"]);
  });

  it("sends rows again that found no room", async () => {
    let full = true;
    const service = fakeService((n) => {
      const refused = full && n === 1;
      if (n === 2) full = false;
      return refused ? { error_code: "unavailable", message: "Later." } : accepted(n);
    });
    const tools = toolsOf(3, service.send);
    expect(await sendRows(newProgress("run", 3, NOW), tools)).to.equal(null);
    expect(service.sizes).to.deep.equal([3, 1]);
    expect(service.minted).to.deep.equal([0, 2, 1]);
  });

  it("halves a batch that is refused, until the wrong row is found", async () => {
    const service = fakeService(accepted);
    const tools = toolsOf(8, (batch, items) =>
      items.some(({ n }) => n === 5)
        ? Promise.resolve({ is: "refused", message: "Too large." })
        : service.send(batch, items),
    );
    expect(await sendRows(newProgress("run", 8, NOW), tools)).to.equal(null);
    const end = tools.kept.at(-1);
    expect(end?.rows[5]).to.deep.equal({ is: "failed", requestId: null, column: null, message: "Too large." });
    expect(service.minted.toSorted()).to.deep.equal([0, 1, 2, 3, 4, 6, 7]);
  });

  it("shows refused rows with column and reason, as a file to correct", async () => {
    const errors = [{ field: "image", message: 'Wrong, "really".' }];
    const service = fakeService((n) =>
      n === 1 ? { error_code: "validation_failed", message: "x", errors } : accepted(n),
    );
    const tools = toolsOf(3, service.send);
    await sendRows(newProgress("run", 3, NOW), tools);
    const sent = tools.kept.at(-1) ?? newProgress("", 0, NOW);
    const requests = [
      { request_id: "r0", status: "completed", nft_token_id: 4, error_message: null },
      { request_id: "r2", status: "failed", nft_token_id: null, error_message: "It reverted." },
      { request_id: "other", status: "failed", nft_token_id: null, error_message: "It reverted." },
    ];
    const end = withOutcomes(sent, requests);
    expect(end.rows.map(({ is }) => is)).to.deep.equal(["completed", "failed", "failed"]);
    const rows = ["a", "b,b", "c"].map((name, index) => ({ line: index + 2, cells: new Map([["name", name]]) }));
    const table: Table = { columns: ["name", "error"], rows, problems: [] };
    expect(failedRowsFile(table, end)).to.equal(
      'name,error\r\n"b,b","image: Wrong, ""really""."\r\nc,It reverted.\r\n',
    );
  });
});

describe("the progress of an import", () => {
  function storeOf(entries: Record<string, string> = {}) {
    const map = new Map(Object.entries(entries));
    return {
      getItem: (name: string) => map.get(name) ?? null,
      setItem: (name: string, value: string) => void map.set(name, value),
      removeItem: (name: string) => void map.delete(name),
    };
  }

  it("is found again after a reload, for the same rows, within six days", () => {
    const store = storeOf();
    const progress = newProgress("run", 2, NOW);
    expect(saveProgress(store, "it", progress)).to.equal(true);
    expect(readProgress(store, "it", 2, NOW)).to.deep.equal(progress);
    expect(readProgress(store, "it", 3, NOW)).to.equal(null);
    saveProgress(store, "it", progress);
    expect(readProgress(store, "it", 2, new Date("2026-11-30T00:00:00Z"))).to.equal(null);
  });

  it("says when the browser has no room for it", () => {
    const full = {
      ...storeOf(),
      setItem: () => {
        throw new DOMException("full", "QuotaExceededError");
      },
    };
    expect(saveProgress(full, "it", newProgress("run", 2, NOW))).to.equal(false);
  });
});
