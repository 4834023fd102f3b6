import { expect } from "chai";
import { sql } from "kysely";

import { useApi } from "../support/use-api.ts";
import { describeOn } from "../../support/engine.ts";

describeOn("sqlite", "a full disk", () => {
  const api = useApi();

  /** SQLite reports the same error when it may use no more pages. */
  const allow = (pages: number) =>
    api.database.write((trx) => sql`pragma max_page_count = ${sql.lit(pages)}`.execute(trx));
  const wallet = (user: string) => api.post("/v1/accounts", { user_identifier: user });

  it("is answered with 503 and Retry-After, and calls work again when there is room", async () => {
    await allow(1);
    let refused: Awaited<ReturnType<typeof wallet>> | null = null;
    let made = 0;
    // The last pages still have room for some rows.
    for (; made < 2_000 && refused === null; made++) {
      const answer = await wallet(`u${made.toString()}`);
      if (answer.status !== 200 && answer.status !== 201) refused = answer;
    }
    expect(refused?.status).to.equal(503);
    expect(refused?.body).to.include({ error_code: "unavailable" });
    expect(Number(refused?.headers.get("retry-after"))).to.be.above(0);
    await allow(1_000_000);
    expect((await wallet(`u${(made - 1).toString()}`)).status).to.be.oneOf([200, 201]);
  });
});
