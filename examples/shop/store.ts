import { mkdirSync } from "node:fs";
import { dirname } from "node:path";

import Database from "better-sqlite3";

/** open: Moneta has accepted the mint. arrived: the visitor's wallet has the token. failed: it has not, and never will. */
type Status = "open" | "arrived" | "failed";

/** A picture that a visitor claimed. */
export interface Claim {
  visitor: string;
  picture: string;
  /** Counts from 1. A failed claim can be tried again. */
  attempt: number;
  requestId: string;
  status: Status;
  tokenId: string | null;
  errorCode: string | null;
}

export interface Outcome {
  status: Status;
  tokenId: string | null;
  errorCode: string | null;
}

const SCHEMA = `
  create table if not exists secrets (name text primary key, value text not null);
  create table if not exists claims (
    visitor text not null,
    picture text not null,
    attempt integer not null,
    requestId text not null unique,
    status text not null,
    tokenId text,
    errorCode text,
    primary key (visitor, picture)
  );
`;

/** What the shop must not forget when it stops. */
export class Store {
  readonly #db: Database.Database;

  constructor(file: string) {
    // The file has secrets, so nobody else on this machine may read it.
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    this.#db = new Database(file);
    this.#db.exec(SCHEMA);
  }

  close(): void {
    this.#db.close();
  }

  secret(name: string): string | null {
    const row = this.#db.prepare<[string], { value: string }>("select value from secrets where name = ?").get(name);
    return row?.value ?? null;
  }

  keepSecret(name: string, value: string): void {
    this.#db
      .prepare("insert into secrets (name, value) values (?, ?) on conflict do update set value = excluded.value")
      .run(name, value);
  }

  claimsOf(visitor: string): Claim[] {
    return this.#db.prepare<[string], Claim>("select * from claims where visitor = ?").all(visitor);
  }

  claim(visitor: string, picture: string): Claim | null {
    return (
      this.#db
        .prepare<[string, string], Claim>("select * from claims where visitor = ? and picture = ?")
        .get(visitor, picture) ?? null
    );
  }

  /** A double click records the same request twice. Only a further attempt replaces what is known. */
  recordClaim(claim: Pick<Claim, "visitor" | "picture" | "attempt" | "requestId">): void {
    this.#db
      .prepare(
        `insert into claims (visitor, picture, attempt, requestId, status)
         values (@visitor, @picture, @attempt, @requestId, 'open')
         on conflict (visitor, picture) do update
         set attempt = excluded.attempt, requestId = excluded.requestId, status = 'open', errorCode = null
         where excluded.attempt > claims.attempt`,
      )
      .run(claim);
  }

  /** @returns the claim as it is now, or null when the request is not one of this shop. */
  recordOutcome(requestId: string, outcome: Outcome): Claim | null {
    const update = this.#db.prepare<[Outcome & { requestId: string }], Claim>(
      "update claims set status = @status, tokenId = @tokenId, errorCode = @errorCode where requestId = @requestId returning *",
    );
    return update.get({ ...outcome, requestId }) ?? null;
  }
}
