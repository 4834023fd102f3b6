import { expect } from "chai";
import { encode } from "uqr";

import { eventually } from "../support/eventually.ts";
import { OwnService } from "../support/own-service.ts";
import {
  copied,
  expectNoAxeViolations,
  expectNoSidewaysScrolling,
  goTo,
  NARROW,
  useConsole,
} from "./support/browser.ts";

const HOSTILE = "<img src=x onerror=\"document.title='ran'\">";

/** The dark squares of a code that is drawn as a path, as `x y`. */
function squaresOf(path: string): string[] {
  return [...path.matchAll(/M(\d+ \d+)h1v1h-1z/g)].map(([, square = ""]) => square).sort();
}

/** Those that a text has, with the free space around it that readers need. */
function squaresFor(text: string): string[] {
  const { data } = encode(text, { ecc: "M", border: 4 });
  return data.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`${x.toString()} ${y.toString()}`] : []))).sort();
}

describe("console > operator", () => {
  // The screen shows all apps and the whole backlog.
  const web = useConsole({ node: "deployed" });

  it("says that nothing happened yet", async () => {
    const page = await web.open({ operator: true, screen: "/operator/time" });
    await page.getByText("No request became final in this time").waitFor();
    await expectNoAxeViolations(page);
  });

  it("shows the apps with their usage, and charts with a table", async () => {
    await web.moneta.createApp(HOSTILE);
    const body = { type: "ERC721", name: "Charted", symbol: "C" };
    const made = await web.moneta.api.send<{ request_id: string }>("POST", "/v1/collections", body);
    await web.moneta.api.client.waitFor(made.body.request_id);
    for (const colorScheme of ["light", "dark"] as const) {
      const page = await web.open({
        operator: true,
        screen: "/operator/time",
        browser: { viewport: NARROW, colorScheme },
      });
      await page.getByText(/1 requests? completed/).waitFor();
      await page.locator("canvas").nth(2).waitFor();
      // Without a pointer, the legend speaks of the whole range, and the drawing has most of its card.
      expect(await page.locator(".u-legend").first().innerText()).to.match(/whole range\s*Completed\s*1\s*Failed/);
      const share = "document.querySelector('.u-over').clientWidth / document.querySelector('.uplot').clientWidth";
      expect(await page.evaluate<number>(share)).to.be.above(0.75);
      await page.getByText("The charts as a table").press("Enter");
      await page.getByRole("table", { name: "Requests, latency and fees over time" }).waitFor();
      await expectNoSidewaysScrolling(page);
      await expectNoAxeViolations(page);
      await page.getByRole("link", { name: "Apps", exact: true }).click();
      await page.getByRole("button", { name: HOSTILE }).waitFor();
      expect(await page.title()).not.to.equal("ran");
      await expectNoSidewaysScrolling(page);
      await expectNoAxeViolations(page);
    }
  });

  it("draws charts in a browser whose language Intl refuses", async () => {
    const page = await web.open({ operator: true });
    // The charts are loaded only at their screen, which is opened afterwards.
    await page.evaluate(
      'Object.defineProperty(Navigator.prototype, "language", { configurable: true, get: () => "en-US@posix" })',
    );
    await goTo(page, "/operator/time");
    await page.locator("canvas").nth(2).waitFor();
    expect(await page.evaluate("navigator.language")).to.equal("en-US@posix");
  });

  it("shows the backlog, the lanes with their balances, and the findings of the doctor", async () => {
    const page = await web.open({ operator: true, screen: "/operator" });
    await page.getByText("0 wait for media, 0 to be sent, 0 for a block").waitFor();
    await page
      .getByRole("table", { name: /^Lanes/ })
      .getByText(/ETH$/)
      .first()
      .waitFor();
    // The summary comes first.
    expect(await page.locator("#main h2").first().innerText()).to.equal("Doctor");
    await page.getByText(/Everything is in order|\d problems?, \d warnings?/).waitFor();
    await page.getByText("All checks").press("Enter");
    await page.getByRole("table", { name: "Findings of the checks" }).waitFor();
    await page.getByRole("button", { name: "Check again" }).click();
    await page.getByRole("button", { name: "Read again" }).click();
    await page.getByRole("table", { name: "Findings of the checks" }).waitFor();
    await expectNoAxeViolations(page);
    await page.setViewportSize(NARROW);
    await expectNoSidewaysScrolling(page);
  });

  it("opens an app", async () => {
    const page = await web.open({ operator: true, screen: "/operator/apps" });
    await page.getByRole("button", { name: "test", exact: true }).click();
    await page.getByRole("heading", { name: "Collections" }).waitFor();
    await goTo(page, "/requests");
    await page.getByRole("link", { name: /Create a collection/ }).waitFor();
  });

  it("creates an app, and shows its first key once", async () => {
    const page = await web.open({ operator: true, screen: "/operator/apps", browser: { viewport: NARROW } });
    const create = async (name: string) => {
      await page.getByRole("button", { name: "Create an app" }).click();
      await page.getByLabel("Name").fill(name);
      await page.getByRole("button", { name: "Create", exact: true }).click();
    };
    await create("made here");
    const secret = page.getByRole("region", { name: "The API key of made here" });
    const token = await secret.locator("code", { hasText: /^moneta_/ }).innerText();
    await expectNoAxeViolations(page);
    await expectNoSidewaysScrolling(page);
    expect(await copied(page, "Copy the secret", secret)).to.equal(token);
    await secret.getByRole("button", { name: "I have stored it" }).click();
    await secret.waitFor({ state: "detached" });
    expect((await web.moneta.api.send("GET", "/v1/requests", undefined, { token })).status).to.equal(200);
    await create("made here");
    await page.getByRole("alert").getByText("Another app has this name").waitFor();
    web.allowProblems(/422/);
  });

  it("offers another app only where there are several", async () => {
    const page = await web.open({ operator: true, screen: "/operator/apps" });
    await page.getByRole("button", { name: "test", exact: true }).click();
    await page.getByRole("button", { name: "Change app" }).waitFor();
    await page.route(/\/v1\/operator\/apps/, async (route) => {
      const answer = await route.fetch();
      const body = (await answer.json()) as { apps: { name: string }[] };
      await route.fulfill({ response: answer, json: { ...body, apps: body.apps.slice(-1), next: null } });
    });
    await page.reload();
    await page.getByRole("heading", { name: "Collections" }).waitFor();
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    expect(await page.getByRole("button", { name: "Change app" }).count()).to.equal(0);
  });

  it("shows how to pay a lane that is low on funds, with a code for phones", async () => {
    const { database, chainId } = web.moneta.service;
    const { address } = await database.read
      .selectFrom("lanes")
      .select("address")
      .where("lane", "=", 0)
      .executeTakeFirstOrThrow();
    const before = await web.moneta.provider.getBalance(address);
    await web.moneta.fund(address, 10n ** 13n);
    const page = await web.open({ operator: true, screen: "/operator", browser: { viewport: NARROW } });
    const part = page.getByRole("region", { name: "Top up" });
    // The service looks at the balances every few seconds.
    await eventually(async () => {
      await page.getByRole("button", { name: "Read again" }).click();
      return (await part.count()) > 0 ? true : undefined;
    });
    await part.getByText(address, { exact: true }).waitFor();
    await part.getByText("0.00001 ETH").first().waitFor();
    const path = await part.getByRole("img", { name: "Payment address of lane 0" }).locator("path").getAttribute("d");
    expect(squaresOf(path ?? "")).to.deep.equal(squaresFor(`ethereum:${address}@${chainId.toString()}`));
    await expectNoAxeViolations(page);
    await expectNoSidewaysScrolling(page);
    await web.moneta.fund(address, before);
  });

  it("is not offered to an app's session", async () => {
    web.allowProblems(/403/);
    const page = await web.open();
    expect(await page.getByRole("link", { name: "Operator" }).count()).to.equal(0);
    await goTo(page, "/operator");
    await page
      .getByText(/operator's console session/)
      .first()
      .waitFor();
  });

  it("shows each of several nodes, and which is down", async () => {
    const { moneta } = web;
    if (!(moneta instanceof OwnService)) throw new Error("the service is not the test's own");
    await moneta.restart({ RPC_URL: "", RPC_URLS: `${moneta.node.url},http://127.0.0.1:1/secret` });
    const page = await web.open({ operator: true, screen: "/operator", browser: { viewport: NARROW } });
    const table = page.getByRole("table", { name: /^Nodes of the chain/ });
    await table.getByText("node 2 (127.0.0.1:1): the node cannot be reached").waitFor();
    await table.getByText("up", { exact: true }).waitFor();
    expect(await page.content()).to.not.contain("secret");
    await expectNoSidewaysScrolling(page);
    await expectNoAxeViolations(page);
    // The service gets another port, and a service of another test may get this one: it would refuse the page's calls.
    await page.close();
    await moneta.restart();
  });
});
