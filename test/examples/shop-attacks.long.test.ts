import { mkdir } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "chai";

import { TestProcess } from "../support/process.ts";
import { useService } from "../support/use-service.ts";
import { SHOP, useShop } from "./support/shop.ts";

describe("the example shop", () => {
  const moneta = useService();
  const shop = useShop(moneta);

  describe("given a hostile caller", () => {
    const form = (
      path: string,
      fields: Record<string, string>,
      headers: Record<string, string> = { origin: shop.url },
    ) =>
      fetch(`${shop.url}${path}`, { method: "POST", body: new URLSearchParams(fields), headers, redirect: "manual" });

    async function visit(): Promise<string> {
      const answer = await form("/visit", { name: "Dee" });
      expect(answer.status).to.equal(303);
      const cookie = answer.headers.get("set-cookie")!;
      expect(cookie).to.match(/^shop_visitor=[\w.-]+; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax$/);
      return cookie.split(";")[0]!;
    }

    it("refuses forms of other sites, also of another port of this machine", async () => {
      const cookie = await visit();
      for (const origin of ["https://evil.example", "http://localhost:1", "null"]) {
        const answer = await form("/claim", { picture: "city" }, { cookie, origin });
        expect(answer.status, origin).to.equal(403);
      }
      expect((await form("/claim", { picture: "city" }, { cookie })).status).to.equal(403);
      expect((await form("/visit", { name: "Eve" }, { origin: "https://evil.example" })).status).to.equal(403);
    });

    it("takes only cookies that it has signed", async () => {
      const cookie = await visit();
      const [payload, signature] = cookie.slice("shop_visitor=".length).split(".") as [string, string];
      const visitor = JSON.parse(Buffer.from(payload, "base64url").toString()) as object;
      const changed = Buffer.from(JSON.stringify({ ...visitor, id: "somebody else" })).toString("base64url");
      for (const forged of [`${changed}.${signature}`, `${payload}.`, payload, `${payload}.${"A".repeat(43)}`, "."]) {
        const headers = { cookie: `shop_visitor=${forged}`, origin: shop.url };
        expect((await form("/claim", { picture: "city" }, headers)).status, forged).to.equal(403);
        expect((await fetch(`${shop.url}/live`, { headers })).status).to.equal(403);
      }
    });

    it("refuses names that are empty, too long or no text, and pictures that it does not have", async () => {
      for (const name of ["", "   ", "x".repeat(41), "a\u0000b"]) {
        expect((await form("/visit", { name })).status, name).to.equal(422);
      }
      expect((await form("/visit", { name: "x".repeat(3_000) })).status).to.equal(413);
      const cookie = await visit();
      for (const picture of ["", "../main", "constructor"]) {
        expect((await form("/claim", { picture }, { cookie, origin: shop.url })).status, picture).to.equal(422);
      }
      expect((await fetch(`${shop.url}/%2e%2e/main.ts`)).status).to.equal(404);
    });

    it("refuses webhooks that Moneta has not signed", async () => {
      const body = JSON.stringify({ id: "1", type: "completed", request_id: "0".repeat(64), nft_token_id: 1 });
      const headers = {
        "webhook-id": "1",
        "webhook-timestamp": Math.floor(Date.now() / 1000).toString(),
        "webhook-signature": `v1,${Buffer.alloc(32).toString("base64")}`,
      };
      expect((await fetch(`${shop.url}/webhook`, { method: "POST", body, headers })).status).to.equal(401);
      expect((await fetch(`${shop.url}/webhook`, { method: "POST" })).status).to.equal(401);
    });
  });

  describe("given a wrong setting", () => {
    const mistakes: [string, () => Record<string, string>, RegExp][] = [
      ["no token", () => ({ MONETA_TOKEN: "" }), /^MONETA_TOKEN is missing\. Run `npm start`/m],
      [
        "an unknown token",
        () => ({ MONETA_TOKEN: "moneta_x" }),
        /^Moneta refused a call: 401 .* Check MONETA_TOKEN\.$/m,
      ],
      ["no service", () => ({ MONETA_URL: "http://127.0.0.1:1" }), /^No answer from the service .* Start Moneta/m],
      [
        "a port in use",
        () => ({ SHOP_DATA: join(shop.dataFolder, "second") }),
        /^Another program uses the shop's port/m,
      ],
      [
        "an address with a path",
        () => ({ SHOP_URL: "https://shop.example/a" }),
        /^SHOP_URL must be an address without/m,
      ],
    ];
    for (const [title, change, message] of mistakes) {
      it(`says what to do: ${title}`, async () => {
        await mkdir(join(shop.dataFolder, "second"), { recursive: true });
        const program = new TestProcess(SHOP, { ...shop.env, ...change() });
        expect(await program.gone(), program.output).to.equal(1);
        expect(program.output)
          .to.match(message)
          .and.not.match(/^ +at /m);
      });
    }
  });
});
