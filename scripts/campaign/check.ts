import { setTimeout as wait } from "node:timers/promises";

import BetterSqlite3 from "better-sqlite3";
import {
  ERC1155Collection__factory,
  ERC721Collection__factory,
  PlainERC721__factory,
} from "../../types/ethers-contracts/index.js";

import { type Accepted, CERTAIN, DOOMED } from "./load.ts";
import type { World } from "./world.ts";

/** Longest that accepted requests may take to become final once the fault is over, in milliseconds. */
const SETTLE_WITHIN = 120_000;

/** What one round of the campaign found. */
export interface Finding {
  requests: number;
  completed: number;
  failed: number;
  /** Accepted, and without the effect that its status claims, or unknown to the service. */
  lost: number;
  /** Effects on chain beyond what the completed requests account for, or more than one final event. */
  doubled: number;
  /** Not final in time. */
  stuck: number;
  /** Anything else that is not as the invariants say, in words. */
  other: string[];
}

interface Row {
  status: string;
  error_code: string | null;
}

/** What is still reserved, taken, or counted as waiting, as the store writes it. */
const RESERVED = {
  "holdings are reserved": "select count(*) n from holdings where reserved <> '0'",
  "ERC1155 ids are reserved": "select count(*) n from nfts where reserved <> '0' or minted_block is null",
  "caps are reserved": "select count(*) n from collections where reserved <> 0",
  "requests are claimed, ready, or without their end":
    "select count(*) n from requests where ready_at is not null or lane is not null or outcome is not null",
  "requests are in the backlog": "select coalesce(max(value), 0) n from counters where key = 'backlog'",
  "media jobs are left": "select count(*) n from media_jobs",
  "batches are open": "select count(*) n from batches where status = 'open'",
};

/** The state of everything the load did, compared on three sides: accepted calls, database, chain. */
export class Checker {
  readonly #world: World;
  readonly #all = new Map<string, Accepted>();

  constructor(world: World) {
    this.#world = world;
  }

  /** Waits until every accepted request is final, helping the chain along, then compares. */
  async check(accepted: Accepted[]): Promise<Finding> {
    for (const one of accepted) this.#all.set(one.id, one);
    const stuck = await this.#settle();
    const database = new BetterSqlite3(this.#world.databaseFile, { readonly: true });
    try {
      return await this.#compare(database, accepted, stuck);
    } finally {
      database.close();
    }
  }

  /** Those too whose acceptance no answer told: a process can die between its commit and its answer. */
  async #settle(): Promise<number> {
    const database = new BetterSqlite3(this.#world.databaseFile, { readonly: true });
    const pending = database.prepare<[], { n: number }>(
      "select count(*) n from requests where status in ('pending', 'processing')",
    );
    const unseen = database.prepare<[], { n: number }>("select count(*) n from batches where status = 'open'");
    const newest = database.prepare<[], { number: number; hash: string }>(
      "select number, hash from blocks order by number desc limit 1",
    );
    const deadline = performance.now() + SETTLE_WITHIN;
    try {
      for (;;) {
        const open = pending.get()?.n ?? 0;
        // A reorganisation can leave the number of the head as it was, and final requests whose batches must run again.
        const again = unseen.get()?.n ?? 0;
        const head = await this.#world.node.provider.getBlock("latest");
        const stored = newest.get();
        if (open === 0 && again === 0 && stored?.hash === head?.hash) return 0;
        if (performance.now() > deadline) return Math.max(open, again, 1);
        if (open + again > 0) await this.#world.mine();
        await wait(60);
      }
    } finally {
      database.close();
    }
  }

  async #compare(database: BetterSqlite3.Database, accepted: Accepted[], stuck: number): Promise<Finding> {
    const finding: Finding = {
      requests: accepted.length,
      completed: 0,
      failed: 0,
      lost: 0,
      doubled: 0,
      stuck,
      other: [],
    };
    const find = database.prepare<[string], Row>("select status, error_code from requests where id = ?");
    for (const { id, kind } of accepted) {
      const row = find.get(id);
      if (row === undefined) finding.lost++;
      else if (row.status === "completed") finding.completed++;
      else if (row.status === "failed") finding.failed++;
      const due = DOOMED[kind];
      const wrong =
        row?.status === "failed"
          ? CERTAIN.has(kind) || (due !== undefined && row.error_code !== due)
          : due !== undefined;
      if (wrong) finding.other.push(`request ${id} (${kind}) is ${String(row?.status)}: ${String(row?.error_code)}`);
    }
    if (stuck === 0) {
      this.#compareReservations(database, finding);
      this.#compareMedia(database, finding);
      await this.#compareErc721(database, finding);
      await this.#compareErc1155(database, finding);
      await this.#compareForeign(database, finding);
      await this.#compareLanes(database, finding);
      this.#compareEvents(database, finding, accepted);
    }
    return finding;
  }

  /** Once everything is final nothing is promised to anybody. */
  #compareReservations(database: BetterSqlite3.Database, finding: Finding): void {
    for (const [what, query] of Object.entries(RESERVED)) {
      const left = database.prepare<[], { n: number }>(query).get()?.n ?? 0;
      if (left > 0) finding.other.push(`${left.toString()} ${what}`);
    }
  }

  /** Ids run 1, 2, 3 ...: as many tokens as completed mints, each with its own request, each owner the same on both sides. */
  async #compareErc721(database: BetterSqlite3.Database, finding: Finding): Promise<void> {
    const { erc721, node } = this.#world;
    const contract = ERC721Collection__factory.connect(erc721, node.provider);
    const minted = Number(await contract.totalMinted());
    const requests = database
      .prepare<[], { nft_token_id: string }>(
        "select nft_token_id from requests where status = 'completed' and json_extract(command, '$.kind') = 'mint-erc721'",
      )
      .all();
    const ids = new Set(requests.map((row) => row.nft_token_id));
    if (minted > requests.length) finding.doubled += minted - requests.length;
    if (minted < requests.length) finding.lost += requests.length - minted;
    if (ids.size !== requests.length)
      finding.other.push(`${(requests.length - ids.size).toString()} mints share a token id`);
    const holders = database
      .prepare<[string], { token_id: string; owner: string }>("select token_id, owner from holdings where contract = ?")
      .all(erc721);
    if (holders.length !== minted)
      finding.other.push(`${holders.length.toString()} owners stored, ${minted.toString()} tokens on chain`);
    const recent = holders.slice(-300).concat(holders.slice(0, -300).filter(() => this.#world.random.chance(0.02)));
    await inSlices(recent, async ({ token_id: token, owner }) => {
      const real = await contract.ownerOf(token);
      if (real !== owner) finding.other.push(`token ${token} is stored for ${owner}, but ${real} has it`);
    });
  }

  /** What was to be copied was: no token still names the content that its mint came with. */
  #compareMedia(database: BetterSqlite3.Database, finding: Finding): void {
    const left = database
      .prepare<[], { n: number }>("select count(*) n from nfts where json_extract(metadata, '$.image') like 'data:%'")
      .get();
    if (left !== undefined && left.n > 0)
      finding.other.push(`${left.n.toString()} tokens name content that was not copied`);
  }

  async #compareErc1155(database: BetterSqlite3.Database, finding: Finding): Promise<void> {
    const { erc1155, node } = this.#world;
    const contract = ERC1155Collection__factory.connect(erc1155, node.provider);
    const minted = database
      .prepare<[], { token: string; quantity: number }>(
        `select json_extract(command, '$.tokenId') token,
           sum(case status when 'completed' then cast(json_extract(command, '$.quantity') as integer) else 0 end) quantity
         from requests where json_extract(command, '$.kind') in ('create-erc1155', 'mint-erc1155') group by token`,
      )
      .all();
    await inSlices(minted, async ({ token, quantity }) => {
      const supply = Number(await contract.totalSupply(token));
      if (supply > quantity) finding.doubled++;
      if (supply < quantity) finding.lost++;
    });
    const holdings = database
      .prepare<[string], { token_id: string; owner: string; quantity: string }>(
        "select token_id, owner, quantity from holdings where contract = ?",
      )
      .all(erc1155);
    await inSlices(holdings, async ({ token_id: token, owner, quantity }) => {
      const real = await contract.balanceOf(owner, token);
      if (real.toString() !== quantity)
        finding.other.push(`${owner} has ${real.toString()} of ${token}, stored are ${quantity}`);
    });
  }

  async #compareForeign(database: BetterSqlite3.Database, finding: Finding): Promise<void> {
    const { foreign, node } = this.#world;
    const contract = PlainERC721__factory.connect(foreign, node.provider);
    const holdings = database
      .prepare<[string], { token_id: string; owner: string }>("select token_id, owner from holdings where contract = ?")
      .all(foreign);
    await inSlices(holdings, async ({ token_id: token, owner }) => {
      const real = await contract.ownerOf(token);
      if (real !== owner) finding.other.push(`foreign token ${token} is stored for ${owner}, but ${real} has it`);
    });
  }

  /** Every nonce that was taken is in a block. */
  async #compareLanes(database: BetterSqlite3.Database, finding: Finding): Promise<void> {
    const lanes = database
      .prepare<[], { lane: number; address: string; next_nonce: number }>("select lane, address, next_nonce from lanes")
      .all();
    for (const { lane, address, next_nonce: next } of lanes) {
      const mined = await this.#world.node.provider.getTransactionCount(address);
      if (mined !== next)
        finding.other.push(
          `lane ${lane.toString()} has ${mined.toString()} transactions, the database ${next.toString()}`,
        );
    }
  }

  /** One final event each, and it arrived. */
  #compareEvents(database: BetterSqlite3.Database, finding: Finding, accepted: Accepted[]): void {
    const count = database.prepare<[string], { n: number }>(
      "select count(*) n from events where request_id = ? and type in ('completed', 'error')",
    );
    for (const { id } of accepted) {
      const events = count.get(id)?.n ?? 0;
      if (events > 1) finding.doubled++;
      if (events === 0) finding.lost++;
    }
  }

  /** At the end of a world: every final event arrived, and no request had two. @returns what did not, in words. */
  async announced(): Promise<string[]> {
    const { finals } = this.#world.receiver;
    const deadline = performance.now() + SETTLE_WITHIN;
    const missing = () => [...this.#all.keys()].filter((id) => finals.get(id)?.size !== 1);
    while (missing().length > 0 && performance.now() < deadline) await wait(250);
    return missing().map((id) => `request ${id} was announced ${String(finals.get(id)?.size ?? 0)} times`);
  }

  /** What the load may ask for next. */
  owners(): { owners: [string, string][]; created: string[] } {
    const database = new BetterSqlite3(this.#world.databaseFile, { readonly: true });
    try {
      const owners = database
        .prepare<[string], { token_id: string; owner: string }>(
          "select token_id, owner from holdings where contract = ? order by seq desc limit 300",
        )
        .all(this.#world.erc721);
      const created = database
        .prepare<[string], { token_id: string }>(
          "select token_id from nfts where contract = ? and minted_block is not null",
        )
        .all(this.#world.erc1155);
      return {
        owners: owners.map((row) => [row.token_id, row.owner]),
        created: created.map((row) => row.token_id),
      };
    } finally {
      database.close();
    }
  }
}

async function inSlices<T>(items: T[], work: (item: T) => Promise<void>): Promise<void> {
  for (let start = 0; start < items.length; start += 50) await Promise.all(items.slice(start, start + 50).map(work));
}
