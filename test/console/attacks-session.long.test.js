import { createServer } from "node:http";
import { expect } from "chai";
import { listenOnLoopback } from "../../scripts/scene/loopback.ts";
import { expectNoAxeViolations, useConsole } from "./support/browser.ts";
describe("console: attacks on sessions", () => {
    const pages = useConsole();
    const { moneta } = pages;
    /** What came to the other site, with its cookies. */
    let seen;
    let site;
    before("start another site", async () => {
        seen = [];
        const server = createServer((request, response) => {
            seen.push(request);
            response.setHeader("content-type", "text/html").end("<!doctype html><title>another site</title>");
        });
        site = await listenOnLoopback(server);
    });
    after("stop the other site", () => site.stop());
    const wallets = async () => (await moneta.api.ok("GET", "/v1/accounts")).total;
    const sessions = () => moneta.service.database.read.selectFrom("console_sessions").selectAll().where("hash", "is not", null).execute();
    const signedIn = (page) => page.getByRole("button", { name: "Sign out" }).waitFor();
    /**
     * The same machine with another port is the worst case: for a browser it is another origin, but the same site, so
     * `SameSite=Strict` lets the cookie through. `localhost` instead of `127.0.0.1` is another site.
     */
    for (const host of ["127.0.0.1", "localhost"]) {
        it(`a page at another port of ${host} changes nothing and reads nothing`, async () => {
            pages.allowProblems(/./);
            const page = await pages.open();
            const before = await wallets();
            const live = (await sessions()).filter((session) => session.revoked_at === null).length;
            await page.goto(site.url.replace("127.0.0.1", host));
            const results = await page.evaluate(`(async () => {
        const base = ${JSON.stringify(moneta.baseUrl)};
        const body = JSON.stringify({ user_identifier: "attacker" });
        const tries = [
          ["/v1/accounts", { method: "POST", body, mode: "no-cors", headers: { "Content-Type": "text/plain" } }],
          ["/v1/accounts", { method: "POST", body, headers: { "Content-Type": "application/json" } }],
          ["/v1/accounts", { method: "POST", body, headers: { "Content-Type": "application/json", "X-Moneta-Console": "1" } }],
          ["/v1/accounts", { headers: { "X-Moneta-Console": "1" } }],
          ["/v1/accounts", {}],
          ["/v1/tokens", { method: "POST", body: '{"scopes":["read"]}', mode: "no-cors" }],
          ["/v1/console/session", { method: "DELETE", headers: { "X-Moneta-Console": "1" } }],
          ["/v1/console/session", { method: "POST", body: '{"code":"x"}', mode: "no-cors" }],
          ["/v1/webhook", { method: "DELETE" }],
        ];
        const read = await Promise.all(tries.map(([path, init]) =>
          fetch(base + path, { credentials: "include", ...init }).then(
            async (answer) => (answer.type === "opaque" ? null : answer.text()), () => null)));
        const stream = await new Promise((resolve) => {
          const events = new EventSource(base + "/v1/events", { withCredentials: true });
          events.onopen = () => resolve("open"); events.onerror = () => { events.close(); resolve(null); };
        });
        return [...read, stream];
      })()`);
            expect(results.filter((one) => one !== null)).to.deep.equal([]);
            expect(await wallets()).to.equal(before);
            expect((await sessions()).filter((session) => session.revoked_at === null).length).to.equal(live);
        });
        it(`a form of a page at another port of ${host} is refused`, async () => {
            pages.allowProblems(/./);
            const page = await pages.open();
            const before = await wallets();
            await page.goto(site.url.replace("127.0.0.1", host));
            const answered = page.waitForResponse((response) => response.url().endsWith("/v1/accounts"));
            await page.evaluate(`(() => {
        const form = Object.assign(document.createElement("form"), { method: "post", enctype: "text/plain", action: ${JSON.stringify(`${moneta.baseUrl}/v1/accounts`)} });
        form.append(Object.assign(document.createElement("input"), { name: '{"user_identifier":"attacker","a":"', value: '"}' }));
        document.body.append(form); form.submit();
      })()`);
            expect((await answered).status()).to.be.oneOf([401, 403]);
            expect(await wallets()).to.equal(before);
        });
    }
    it("no other page shows the console in a frame", async () => {
        pages.allowProblems(/./);
        const page = await pages.open();
        await page.goto(site.url);
        await page.evaluate(`new Promise((resolve) => {
      const frame = Object.assign(document.createElement("iframe"), { src: ${JSON.stringify(`${moneta.baseUrl}/console/`)}, onload: resolve });
      document.body.append(frame);
    })`);
        const [, frame] = page.frames();
        expect(await frame?.locator("#console").count()).to.equal(0);
    });
    it("a link that two browsers open at the same moment signs in one of them", async () => {
        pages.allowProblems(/401/);
        const { url } = await pages.link();
        const all = await Promise.all([1, 2, 3].map(() => pages.browser.open(url)));
        const states = await Promise.all(all.map(async (page) => {
            await page.getByRole("button", { name: "Sign out" }).or(page.getByRole("alert")).first().waitFor();
            return page.getByRole("button", { name: "Sign out" }).count();
        }));
        expect(states.sort()).to.deep.equal([0, 0, 1]);
    });
    it("a link of a stranger replaces no session before the person agrees", async () => {
        await moneta.createApp("attacker");
        const apps = await moneta.service.database.read
            .selectFrom("apps")
            .select("id")
            .where("name", "=", "attacker")
            .execute();
        const page = await pages.open();
        const { url } = await pages.link({ appId: apps[0]?.id ?? "" });
        await page.goto(url);
        await page.getByRole("heading", { name: "Open another session?" }).waitFor();
        expect(page.url()).to.not.contain("code=");
        await expectNoAxeViolations(page);
        await page.getByRole("button", { name: "Keep my session" }).click();
        await page.locator(".session-app", { hasText: "test" }).waitFor();
        await page.reload();
        await page.locator(".session-app", { hasText: "test" }).waitFor();
        await page.goto(url);
        await page.getByRole("button", { name: "Use the link" }).click();
        await page.locator(".session-app", { hasText: "attacker" }).waitFor();
    });
    it("a session that somebody planted before is not the one that a link opens", async () => {
        const planted = "p".repeat(43);
        const page = await pages.browser.open(`${moneta.baseUrl}/healthz`);
        await page.context().addCookies([{ name: "moneta_console", value: planted, url: moneta.baseUrl }]);
        await page.goto((await pages.link()).url);
        await signedIn(page);
        const [cookie, ...others] = await page.context().cookies(moneta.baseUrl);
        expect(others).to.deep.equal([]);
        expect(cookie?.value)
            .to.match(/^[\w-]{43}$/)
            .and.not.equal(planted);
        expect(cookie).to.include({ httpOnly: true, sameSite: "Strict", path: "/" });
    });
    it("two cookies, of which one was planted, open no session", async () => {
        pages.allowProblems(/401/);
        const page = await pages.open();
        await page
            .context()
            .addCookies([{ name: "moneta_console", value: "p".repeat(43), domain: "127.0.0.1", path: "/v1" }]);
        await page.reload();
        await page.getByText("You are not signed in.").waitFor();
    });
    it("another port of the same host gets the cookie over plain http, as browsers do not separate ports", async () => {
        const page = await pages.open();
        seen = [];
        await page.goto(site.url);
        // Documented in docs/console.md: open the console over http only on a machine whose other services you trust.
        expect(seen[0]?.headers.cookie ?? "").to.contain("moneta_console=");
        expect(await page.evaluate("document.cookie")).to.equal("");
    });
});
