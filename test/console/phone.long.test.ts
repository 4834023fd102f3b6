import { createServer } from "node:http";

import { expect } from "chai";
import type { Page } from "playwright-core";

import { waitUntil } from "../../scripts/console/wait-until.ts";
import { type Listening, listenOnLoopback } from "../../scripts/scene/loopback.ts";
import type { ApiClient } from "../support/api-client.ts";
import { eventually } from "../support/eventually.ts";
import {
  expectNoAxeViolations,
  expectNoBrokenWords,
  expectNoSidewaysScrolling,
  goTo,
  NARROW,
  useConsole,
} from "./support/browser.ts";

/** One word that is wider than any phone. */
const WIDE = "Donaudampfschifffahrtsgesellschaftskapitän".repeat(4);
const PICTURE = `data:image/svg+xml;base64,${Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>').toString("base64")}`;

type Data = Record<"hosted" | "editions" | "plain" | "wallet" | "stranger" | "webhook" | "done" | "failed", string>;

const NO_TRANSITIONS = `(() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("*, *::before, *::after { transition: none !important }");
  document.adoptedStyleSheets.push(sheet);
})()`;
const WIDE_PAGE = { width: 1280, height: 800 };

const COPIES_ID = (2 ** 52).toString();

/** All screens of an app, each with what it shows when it is complete. */
function screensOf({
  hosted,
  editions,
  plain,
  wallet,
  stranger,
  webhook,
  done,
  failed,
}: Data): [screen: string, loaded: string][] {
  const token = `/collections/${hosted}/1`;
  const [wide, collections] = [encodeURIComponent(WIDE), [hosted, editions, plain]];
  return [
    ["/", "table, .tile"],
    ["/collections", ".tile"],
    ["/collections/new", "form"],
    ...collections.map((one): [string, string] => [`/collections/${one}`, ".tile"]),
    ...["mint", "import", "change"].map((one): [string, string] => [`/collections/${hosted}/${one}`, "form, .card"]),
    [`/collections/${hosted}/freeze`, "button"],
    [`/collections/${editions}/mint`, "form"],
    [`/collections/${hosted}/of/${stranger}`, ".tile"],
    [`/collections/${hosted}/with/${wide}/${wide}`, ".tile"],
    [`/collections/${hosted}/named/${wide.slice(0, 20)}`, ".tile"],
    [token, ".attributes"],
    [`/collections/${editions}/${COPIES_ID}`, ".attributes"],
    [`/collections/${plain}/1`, "table"],
    [`${token}/change`, "form"],
    [`/transfer/${stranger}/${hosted}/1`, "form"],
    [`/transfer/${wallet}/${editions}/${COPIES_ID}`, "form"],
    [`/burn/${stranger}/${hosted}/1`, "form"],
    [`/burn/${wallet}/${editions}/${COPIES_ID}`, "form"],
    ["/requests", "table"],
    [`/requests/wallet/${wallet}`, "table"],
    [`/requests/collection/${hosted}`, "table"],
    ["/requests/state/failed", "table"],
    ...[done, failed].map((one): [string, string] => [`/requests/${one}`, "dl"]),
    ["/wallets", "table"],
    ...[wallet, stranger].map((one): [string, string] => [`/wallets/${one}`, ".tile, .holding, table"]),
    ["/webhooks", "table"],
    [`/webhooks/${webhook}`, "table"],
    ["/tokens", "table"],
  ];
}

/** Fills every screen. @param url of a receiver */
async function fill(api: ApiClient, url: string): Promise<Data> {
  const reference = WIDE;
  const body = { url: `${url}/${WIDE.replaceAll("ä", "a")}`, description: WIDE };
  const { id: webhook } = await api.ok<{ id: string }>("POST", "/v1/webhooks", body);
  const wallet = await api.wallet(WIDE);
  const stranger = await api.wallet();
  const royalty = { seller_fee_basis_points: 500, fee_recipient: wallet };
  const [hosted, editions, plain] = await Promise.all([
    api.collection({
      type: "ERC721",
      name: WIDE,
      description: WIDE,
      image: PICTURE,
      external_link: `https://${"a".repeat(60)}.example/${"b".repeat(200)}`,
      ...royalty,
    }),
    api.collection({ type: "ERC1155", name: WIDE, soulbound: false }),
    api.collection({
      type: "ERC721",
      name: "Self-hosted",
      base_uri: `https://${"c".repeat(60)}.example/${"d".repeat(300)}/`,
    }),
  ]);
  const attributes = [
    { trait_type: WIDE, value: WIDE },
    { trait_type: "level", value: 123456789012345 },
  ];
  const metadata = { name: WIDE, description: WIDE, image: PICTURE, external_url: "https://a.example/", attributes };
  const minted = { collection_address: hosted, ...metadata, unlockable_content: WIDE, reference };
  const [done] = await Promise.all([
    api.completed("/v1/nfts", { ...minted, to_address: wallet }),
    api.completed("/v1/nfts", { collection_address: plain, to_address: stranger }),
    api.completed("/v1/nfts", {
      collection_address: editions,
      initial_owner: wallet,
      initial_supply: 10 ** 15,
      token_id: 2 ** 52,
      ...metadata,
    }),
  ]);
  const moved = { contract_address: hosted, token_id: 1, from_address: wallet };
  await api.completed("/v1/transfers", { ...moved, to_address: stranger, reference });
  const failed = await api.done("/v1/nfts", {
    ...{ collection_address: hosted, to_address: wallet, copy_media: true },
    image: "https://127.0.0.1:1/nothing.png",
  });
  expect(failed.status).to.equal("failed");
  await api.ok("POST", `/v1/webhooks/${webhook}/test`, {});
  await eventually(async () => {
    const path = `/v1/webhooks/${webhook}/deliveries`;
    const { deliveries } = await api.ok<{ deliveries: { response_status: number | null }[] }>("GET", path);
    return deliveries.some(({ response_status: status }) => status === 500) ? true : undefined;
  });
  return { hosted, editions, plain, wallet, stranger, webhook, done: done.request_id, failed: failed.request_id };
}

/** All screens, with the widest data that an app can have. */
describe("console > phone", () => {
  // Its only app is chosen at once.
  const web = useConsole({ node: "deployed" });
  let receiver: Listening;
  let data: Data;

  before("fill every screen", async () => {
    receiver = await listenOnLoopback(
      createServer((_request, response) => {
        response.writeHead(500).end(WIDE);
      }),
    );
    data = await fill(web.moneta.api, receiver.url);
  });
  after(() => receiver.stop());

  /** @param loaded what the screen shows when it is complete */
  async function check(page: Page, screen: string, loaded?: string): Promise<void> {
    await goTo(page, screen);
    await waitUntil(page, "document.querySelector('.loading') === null");
    if (loaded !== undefined) await page.locator(loaded).first().waitFor();
    await page.evaluate("for (const part of document.querySelectorAll('#main details')) part.open = true");
    await waitUntil(page, "document.querySelector('.loading') === null");
    try {
      await expectNoSidewaysScrolling(page);
      await expectNoBrokenWords(page);
      await expectNoAxeViolations(page);
    } catch (error) {
      throw new Error(`The screen ${screen}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  it("shows every link of the navigation", async () => {
    const page = await web.open({ operator: true, browser: { viewport: NARROW } });
    await page.locator(".tile, .card").first().waitFor();
    const hidden = await page.evaluate<string[]>(
      `[...document.querySelectorAll(".navigation nav a")]
        .filter((link) => { const box = link.getBoundingClientRect(); return box.left < 0 || box.right > innerWidth; })
        .map((link) => link.textContent)`,
    );
    expect(hidden).to.deep.equal([]);
  });

  it("fits every screen of an app, with data, light and dark, and breaks no word of them on a wide page", async () => {
    const page = await web.open({ browser: { viewport: NARROW } });
    const problems: unknown[] = [];
    for (const [screen, loaded] of screensOf(data)) {
      try {
        await check(page, screen, loaded);
        // Only the colours differ. They change at once: axe must not see them on their way.
        await page.evaluate(NO_TRANSITIONS);
        await page.emulateMedia({ colorScheme: "dark" });
        await expectNoAxeViolations(page, ["color-contrast"]);
        await page.setViewportSize(WIDE_PAGE);
        await expectNoSidewaysScrolling(page);
        await expectNoBrokenWords(page);
      } catch (error) {
        problems.push(`${screen}: ${String(error)}`);
      }
      await page.emulateMedia({ colorScheme: "light" });
      await page.setViewportSize(NARROW);
    }
    expect(problems.join("\n\n")).to.equal("");
  });

  it("fits every screen of the operator, with data", async () => {
    for (let index = 0; index < 2; index++) await web.moneta.createApp(`${WIDE.slice(0, 60)}${index.toString()}`);
    const page = await web.open({ operator: true, browser: { viewport: NARROW } });
    await check(page, "/", ".choices");
    await check(page, "/operator", ".facts");
    await check(page, "/operator/apps", "table");
    await check(page, "/operator/time", "canvas");
  });

  it("fits what opens above a screen", async () => {
    const page = await web.open({ browser: { viewport: NARROW } });
    const open = async (screen: string, button: string) => {
      await check(page, screen);
      await page.getByRole("button", { name: button }).first().click();
      await page.getByRole("dialog").waitFor();
      await expectNoSidewaysScrolling(page);
      await expectNoAxeViolations(page);
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
    };
    await open("/wallets", "Create a wallet");
    await open("/tokens", "Create an API key");
    await open(`/webhooks/${data.webhook}`, "Rotate the secret");
    await open(`/webhooks/${data.webhook}`, "Remove");
    await page.getByRole("button", { name: /^Search/ }).click();
    await page.getByRole("combobox").fill(WIDE.slice(0, 20));
    await page.getByRole("option").first().waitFor();
    await expectNoSidewaysScrolling(page);
    await expectNoAxeViolations(page);
  });

  it("fits the question of a link, for a person with a session", async () => {
    const { url } = await web.link();
    const signedIn = await web.open({ browser: { viewport: NARROW } });
    await signedIn.goto("about:blank");
    await signedIn.goto(url);
    await signedIn.getByRole("heading", { level: 1 }).waitFor();
    await expectNoSidewaysScrolling(signedIn);
    await expectNoAxeViolations(signedIn);
  });
});
