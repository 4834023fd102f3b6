import { expect } from "chai";
import type { Page } from "playwright-core";

import { waitUntil } from "../../scripts/console/wait-until.ts";
import { expectNoAxeViolations, expectNoSidewaysScrolling, goTo, NARROW, useConsole } from "./support/browser.ts";

/** Runs when the browser takes a text for HTML. */
const HTML = '<img src=x onerror="document.title=1"><script>document.title="ran"</script>';
/** Shows the rest of a line from right to left, and does not end. */
const BIDI = "\u202Eevil\u2066";
const LONG = "W".repeat(4_000);
const SVG = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8" onload="parent.document.title='ran'"><script>parent.document.title="ran";fetch("https://evil.example/")</script><rect width="8" height="8"/></svg>`;
const PICTURE = `data:image/svg+xml;base64,${Buffer.from(SVG).toString("base64")}`;

describe("console: hostile texts and pictures", () => {
  const pages = useConsole();
  let contract: string;

  before("mint", async () => {
    const { api } = pages.moneta;
    const description = LONG + HTML;
    contract = await api.collection({ type: "ERC721", name: HTML, symbol: "X", description, image: PICTURE });
    await api.completed("/v1/nfts", {
      collection_address: contract,
      to_address: await api.wallet(),
      name: `${BIDI}${HTML}${LONG}`.slice(0, 256),
      description,
      image: PICTURE,
      animation_url: PICTURE,
      attributes: [{ trait_type: HTML, value: HTML }, { [HTML]: LONG }, null, [[HTML]], { trait_type: {}, value: 1 }],
    });
  });

  /** What a script or an element of a stranger would leave behind. */
  async function expectInert(page: Page): Promise<void> {
    expect(await page.title()).to.not.match(/^(ran|1)$/);
    expect(await page.locator("#main script, #main iframe, #main object, #main img[onerror]").count()).to.equal(0);
    const links = await page.evaluate<string[]>(
      "Array.from(document.querySelectorAll('#main a'), (link) => link.protocol)",
    );
    for (const protocol of links) expect(protocol).to.match(/^https?:$/);
  }

  it("shows them as text, runs no script, and keeps its layout", async () => {
    const requested: string[] = [];
    const page = await pages.open({ browser: { viewport: NARROW } });
    page.on("request", (request) => requested.push(request.url()));
    for (const screen of ["/", `/collections/${contract}`, `/collections/${contract}/1`]) {
      await goTo(page, screen);
      await page.locator(".tile img, .detail img").first().waitFor();
      await waitUntil(page, "document.querySelector('#main img')?.naturalWidth > 0");
      await expectInert(page);
      await expectNoSidewaysScrolling(page);
    }
    expect(await page.locator("h1").innerText()).to.contain("<script>");
    expect(requested.filter((url) => url.includes("evil.example"))).to.deep.equal([]);
    await expectNoAxeViolations(page);
  });

  it("makes no link and no picture of addresses that run scripts, also when the API answers them", async () => {
    const page = await pages.open();
    await page.route(`**/v1/collections/${contract}/1`, async (route) => {
      const response = await route.fetch();
      const token = (await response.json()) as { metadata: object };
      const address = "javascript:document.title='ran'";
      const text = "data:text/html,<script>parent.document.title='ran'</script>";
      const metadata = { ...token.metadata, image: address, external_url: address, animation_url: text };
      await route.fulfill({ response, json: { ...token, metadata, token_uri: text } });
    });
    await goTo(page, `/collections/${contract}/1`);
    await page.locator(".detail .placeholder").waitFor();
    await page.getByText("javascript:document.title='ran'", { exact: true }).waitFor();
    expect(await page.getByRole("button", { name: "Play" }).count()).to.equal(0);
    await expectInert(page);
  });

  it("draws a picture in place of one that does not load", async () => {
    pages.allowProblems(/Failed to load resource|ERR_/);
    const page = await pages.open();
    await page.route(`**/v1/collections/${contract}/1`, async (route) => {
      const response = await route.fetch();
      const token = (await response.json()) as { metadata: object };
      const metadata = { ...token.metadata, image: `${pages.moneta.baseUrl}/none.png` };
      await route.fulfill({ response, json: { ...token, metadata } });
    });
    await goTo(page, `/collections/${contract}/1`);
    await page.locator(".detail .placeholder").waitFor();
  });
});
