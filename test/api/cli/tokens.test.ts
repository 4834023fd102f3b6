import { expect } from "chai";

import { expectRefusal } from "../support/expect.ts";
import { useCli } from "./support/use-cli.ts";

interface Token {
  token_id: string;
  token: string;
  name: string;
  scopes: string[];
  expires_at: string | null;
  old_token_id: string;
  old_works_until: string | null;
}

interface Listed {
  token_id: string;
  revoked_at: string | null;
  rate_limit_per_minute: number | null;
}

describe("command line: token", () => {
  const cli = useCli();
  const create = (...words: string[]) => cli.json<Token>("token", "create", "first", ...words);
  const list = () => cli.json<Listed[]>("token", "list", "first");
  const status = async (token: string) => (await cli.api.get("/v1/accounts", { token })).status;

  describe("create", () => {
    it("creates a token with scopes and an expiry, and revoke ends it at once", async () => {
      const made = await create("--name", "ci", "--scopes", "read", "--expires", "2h");
      expect(made.scopes).to.deep.equal(["read"]);
      expect(Date.parse(made.expires_at ?? "") - Date.now()).to.be.within(7_100_000, 7_200_000);
      expect(await status(made.token)).to.equal(200);
      expectRefusal(await cli.api.post("/v1/accounts", {}, { token: made.token }), 403, "forbidden");
      expect((await list()).find(({ token_id: id }) => id === made.token_id)?.revoked_at).to.equal(null);
      expect(await cli.run("token", "list", "first")).to.not.contain(made.token);

      await cli.run("token", "revoke", made.token_id);
      expectRefusal(await cli.api.get("/v1/accounts", { token: made.token }), 401, "unauthorized");
    });

    it("creates a token with a rate limit, which the list shows and a new token in its place keeps", async () => {
      const made = await create("--rate-limit", "2");
      const policyOf = async (token: string) =>
        (await cli.api.get("/v1/accounts", { token })).headers.get("ratelimit-policy") ?? "";
      expect(await policyOf(made.token)).to.match(/^"token";q=2;w=60, "app"/);
      const rateOf = async ({ token_id: id }: Token) =>
        (await list()).find((one) => one.token_id === id)?.rate_limit_per_minute;
      expect(await rateOf(made)).to.equal(2);
      const next = await cli.json<Token>("token", "rotate", made.token_id);
      expect(await rateOf(next)).to.equal(2);
      expect(await policyOf(next.token)).to.match(/^"token";q=2;w=60, "app"/);
    });

    for (const [options, words] of [
      [["--scopes", "read,fly"], "Valid scopes are"],
      [["--expires", "2001-01-01"], "past"],
      [["--expires", "soon"], "duration"],
      ...["0", "1.5", "1000001", "many"].map(
        (rate) => [["--rate-limit", rate], "Give a number from 1 to 1000000"] as const,
      ),
    ] as const) {
      it(`refuses ${options.join(" ")}`, async () => {
        expect(await cli.refusal("token", "create", "first", ...options)).to.contain(words);
      });
    }
  });

  describe("rotate", () => {
    it("replaces a token at once and keeps its name, scopes and expiry", async () => {
      const old = await create("--name", "ci", "--scopes", "read,mint", "--expires", "2h");
      const made = await cli.json<Token>("token", "rotate", old.token_id);
      expect(made).to.deep.include({ name: "ci", scopes: ["read", "mint"], expires_at: old.expires_at });
      expect(made).to.include({ old_token_id: old.token_id, old_works_until: null });
      expect([await status(old.token), await status(made.token)]).to.deep.equal([401, 200]);
    });

    it("keeps the old token valid for the grace period, but not beyond its expiry", async () => {
      const old = await create();
      const made = await cli.json<Token>("token", "rotate", old.token_id, "--grace", "2h");
      expect(Date.parse(made.old_works_until ?? "") - Date.now()).to.be.within(7_100_000, 7_200_000);
      expect([await status(old.token), await status(made.token)]).to.deep.equal([200, 200]);
      const short = await create("--expires", "1h");
      const again = await cli.json<Token>("token", "rotate", short.token_id, "--grace", "9d");
      expect(again.old_works_until).to.equal(short.expires_at);
    });
  });

  it("refuses unknown tokens, a revoked one and an invalid grace period", async () => {
    const old = await create();
    await cli.run("token", "revoke", old.token_id);
    expect(await cli.refusal("token", "rotate", old.token_id)).to.contain("is revoked or expired");
    expect(await cli.refusal("token", "rotate", "none")).to.contain("no token with the id none");
    expect(await cli.refusal("token", "revoke", "none")).to.contain("no token with the id none");
    expect(await cli.refusal("token", "rotate", old.token_id, "--grace", "soon")).to.contain("duration");
  });
});
