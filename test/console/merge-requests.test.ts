import { expect } from "chai";

import { readListAgain } from "../../console/screens/merge-requests.ts";
import type { Request } from "../../console/screens/request-state.ts";

const TEMPLATE: Request = {
  request_id: "",
  type: "mint",
  waiting_for: "queued",
  status: "pending",
  reference: null,
  nft_collection: null,
  nft_token_id: null,
  contract_address: null,
  token_id: null,
  quantity: null,
  from_address: null,
  to_address: null,
  from_user: null,
  to_user: null,
  retry_of: null,
  retried_by: null,
  transaction_hash: null,
  block_number: null,
  gas_used: null,
  fee_wei: null,
  error_code: null,
  error_message: null,
  errors: null,
  created_at: "2030-01-31T12:00:00.000Z",
  updated_at: "2030-01-31T12:00:00.000Z",
};

type Status = Request["status"];

/** A listing in pages of two, as the service has it: its cursors name the last row before them. */
class Listing {
  readonly status: Status | null;
  readonly order: "newest" | "oldest";
  readonly calls: string[] = [];
  readonly #rows = new Map<string, Request>();

  constructor(order: "newest" | "oldest", status: Status | null, ids: string) {
    this.order = order;
    this.status = status;
    for (const id of ids) this.set(id, status ?? "pending");
  }

  /** Later letters are newer. */
  set(id: string, status: Status): void {
    this.#rows.set(id, { ...TEMPLATE, request_id: id, status });
  }

  readonly belongs = (request: Request) => this.status === null || request.status === this.status;
  readonly page = (cursor: string | undefined) => {
    this.calls.push(cursor ?? "start");
    const rows = [...this.#rows.values()].sort((a, b) => (a.request_id < b.request_id ? -1 : 1));
    if (this.order === "newest") rows.reverse();
    const after = rows.filter(
      ({ request_id: id }) => cursor === undefined || (this.order === "newest" ? id < cursor : id > cursor),
    );
    const left = after.filter(this.belongs);
    const items = left.slice(0, 2);
    return Promise.resolve({ items, next: left.length > 2 ? (items.at(-1)?.request_id ?? null) : null });
  };
  readonly request = (id: string) => {
    this.calls.push(`one ${id}`);
    const row = this.#rows.get(id);
    return row === undefined ? Promise.reject(new Error(`no request ${id}`)) : Promise.resolve(row);
  };

  /** The first pages, as the console shows them. */
  async shown(pages: number) {
    let shown = await this.page(undefined);
    for (let page = 1; page < pages && shown.next !== null; page++) shown = await this.more(shown);
    this.calls.length = 0;
    return shown;
  }

  async more(shown: { items: readonly Request[]; next: string | null }) {
    const { items, next } = await this.page(shown.next ?? undefined);
    return { items: [...shown.items, ...items], next };
  }
}

function ids({ items }: { items: readonly Request[] }): string {
  return items.map(({ request_id: id }) => id).join("");
}

describe("readListAgain", () => {
  it("puts new requests first, and repeats none with the next page", async () => {
    const listing = new Listing("newest", null, "abcde");
    const shown = await listing.shown(2);
    listing.set("f", "pending");
    const again = await readListAgain(shown, new Set("f"), listing);
    expect(ids(again)).to.equal("fedc");
    expect(ids(await listing.more(again))).to.equal("fedcba");
  });

  it("shows new requests at the end where the oldest come first", async () => {
    const listing = new Listing("oldest", null, "abcd");
    const shown = await listing.shown(2);
    listing.set("e", "pending");
    const again = await readListAgain(shown, new Set("e"), listing);
    expect(ids(await listing.more(again))).to.equal("abcde");
  });

  it("drops what no longer has the state of the list", async () => {
    const listing = new Listing("newest", "pending", "abc");
    const shown = await listing.shown(2);
    listing.set("c", "failed");
    expect(ids(await readListAgain(shown, new Set("c"), listing))).to.equal("ba");
  });

  it("reads five pages of a long list, and below them only what has changed", async () => {
    const listing = new Listing("newest", "pending", "abcdefghijklmnop");
    const shown = await listing.shown(7);
    expect(ids(shown)).to.equal("ponmlkjihgfedc");
    listing.set("q", "pending");
    listing.set("e", "failed");
    const again = await readListAgain(shown, new Set("qez"), listing);
    expect(listing.calls).to.deep.equal(["start", "p", "n", "l", "j", "one e"]);
    expect(ids(again)).to.equal("qponmlkjihgfdc");
    expect(ids(await listing.more(again))).to.equal("qponmlkjihgfdcba");
  });

  it("begins again where more has come than it reads", async () => {
    const listing = new Listing("newest", null, "abcdefghijkl");
    const shown = await listing.shown(6);
    for (const id of "mnopqrstuvwxyz") listing.set(id, "pending");
    const again = await readListAgain(shown, new Set("z"), listing);
    expect(ids(again)).to.equal("zyxwvutsrq");
    expect(ids(await listing.more(again))).to.equal("zyxwvutsrqpo");
  });
});
