import { readdir } from "node:fs/promises";
import { join } from "node:path";

import axe from "axe-core";
import { expect } from "chai";
import type { Page } from "playwright-core";
import { Webhook } from "standardwebhooks";

import { Store } from "../../examples/shop/store.ts";
import { useBrowser } from "../support/browser.ts";
import { eventually } from "../support/eventually.ts";
import { useService } from "../support/use-service.ts";
import { useShop } from "./support/shop.ts";

interface Minted {
  nfts: { owner: string; metadata: { name: string; description: string; image: string } }[];
}

describe("the example shop", () => {
  const moneta = useService();
  const browser = useBrowser();
  const shop = useShop(moneta);

  async function enter(name: string): Promise<Page> {
    const page = await browser.open(shop.url);
    await page.getByLabel("What is your name?").fill(name);
    await page.getByRole("button", { name: "Get a wallet" }).click();
    await page.getByText(`Hello, ${name}.`).waitFor();
    return page;
  }

  const card = (page: Page, id: string) => page.locator(`#${id}`);
  const claim = (page: Page, title: string) => page.getByRole("button", { name: `Claim ${title}` }).click();

  async function mintedFor(wallet: string): Promise<Minted["nfts"]> {
    const { collections } = await moneta.api.ok<{ collections: { address: string }[] }>("GET", "/v1/collections");
    expect(collections).to.have.length(1);
    const { nfts } = await moneta.api.ok<Minted>("GET", `/v1/collections/${collections[0]!.address}`);
    return nfts.filter(({ owner }) => owner === wallet);
  }

  /** The requests for mints, newest first. */
  async function mints(): Promise<{ request_id: string; status: string }[]> {
    const { requests } = await moneta.api.ok<{ requests: { request_id: string; status: string }[] }>(
      "GET",
      "/v1/requests?type=mint",
    );
    return requests;
  }

  /** Sends an event as Moneta does. The shop keeps the secret of the signature in its database. */
  async function sendWebhook(event: { id: string; [field: string]: unknown }): Promise<void> {
    const [file] = (await readdir(shop.dataFolder)).filter((name) => name.endsWith(".sqlite"));
    const store = new Store(join(shop.dataFolder, file!));
    const secret = store.secret("webhook")!;
    store.close();
    const [body, now] = [JSON.stringify(event), new Date()];
    const headers = {
      "webhook-id": event.id,
      "webhook-timestamp": Math.floor(now.getTime() / 1000).toString(),
      "webhook-signature": new Webhook(secret).sign(event.id, now, body),
    };
    expect((await fetch(`${shop.url}/webhook`, { method: "POST", body, headers })).status).to.equal(204);
  }

  async function walletOn(page: Page): Promise<string> {
    const wallet = await page.locator("code").innerText();
    expect(wallet).to.match(/^0x[0-9a-fA-F]{40}$/);
    return wallet;
  }

  /** @returns true, or undefined while the script of the page is not loaded or not connected to the shop. */
  async function hasConnected(page: Page): Promise<true | undefined> {
    const connected = await page.evaluate<boolean>("typeof live === 'object' && live.readyState === EventSource.OPEN");
    return connected ? true : undefined;
  }

  /** The node takes no transaction until the returned function is called. */
  function holdTransactions(): () => void {
    const { promise: released, resolve: release } = Promise.withResolvers<undefined>();
    moneta.intercept = ({ method }) => (method === "eth_sendRawTransaction" ? released : undefined);
    return () => {
      release(undefined);
    };
  }

  it("gives a visitor a wallet, mints a claimed picture, and shows its arrival without a reload", async () => {
    const page = await enter("Ada");
    const release = holdTransactions();
    await claim(page, "Lighthouse");
    await card(page, "lighthouse").getByText("On its way to your wallet").waitFor();
    // A reload would forget this.
    await page.evaluate("window.first = true");
    release();
    await card(page, "lighthouse").getByText("It is yours: postcard").waitFor();
    expect(await page.evaluate("window.first")).to.equal(true);
    expect(await page.getByRole("button", { name: "Claim Lighthouse" }).count()).to.equal(0);

    const minted = await mintedFor(await walletOn(page));
    expect(minted).to.have.length(1);
    const [{ metadata }] = minted as [Minted["nfts"][number]];
    expect(metadata.name).to.match(/^Lighthouse, postcard \d+$/);
    const picture = await fetch(`${moneta.baseUrl}/ipfs/${metadata.image.slice("ipfs://".length)}`);
    expect(await picture.text()).to.equal(await (await fetch(`${shop.url}/pictures/lighthouse.svg`)).text());
    expect(browser.problems).to.deep.equal([]);
  });

  it("mints once after a double click", async () => {
    const page = await enter("Bo");
    await page.getByRole("button", { name: "Claim Forest" }).dblclick();
    await card(page, "forest").getByText("It is yours").waitFor();
    const cookie = (await page.context().cookies()).map(({ name, value }) => `${name}=${value}`).join("; ");
    // A browser may cancel the first of two submissions. These three arrive for certain.
    const body = new URLSearchParams({ picture: "desert" });
    const post = () =>
      fetch(`${shop.url}/claim`, { method: "POST", body, headers: { cookie, origin: shop.url }, redirect: "manual" });
    for (const answer of await Promise.all([post(), post(), post()])) expect(answer.status).to.equal(303);
    await card(page, "desert").getByText("It is yours").waitFor();
    expect(await mintedFor(await walletOn(page))).to.have.length(2);
  });

  it("loses nothing when it is killed while a picture is on its way", async () => {
    const page = await enter("Cleo");
    const release = holdTransactions();
    await claim(page, "Island");
    await card(page, "island").getByText("On its way").waitFor();
    // A page whose script could not be loaded learns nothing until the visitor loads it again.
    await eventually(() => hasConnected(page));
    await shop.process.end("SIGKILL");
    release();
    const wallet = await walletOn(page);
    await eventually(async () => (await mintedFor(wallet))[0]);
    // Else the shop may have to wait for the next try of a webhook that came while it was down.
    await eventually(async () => ((await mints())[0]?.status === "completed" ? true : undefined));
    await shop.open();
    // The page is the same one. It connects again by itself.
    await card(page, "island").getByText("It is yours: postcard").waitFor();
    await page.reload();
    await page.getByText("Hello, Cleo.").waitFor();
    expect(await card(page, "island").getAttribute("data-status")).to.equal("arrived");
    expect(await walletOn(page)).to.equal(wallet);
  });

  it("lets a visitor try again after a failure", async () => {
    const page = await enter("Dan");
    const release = holdTransactions();
    await claim(page, "Forest");
    await card(page, "forest").getByText("On its way").waitFor();
    const [first] = await mints();
    await sendWebhook({ id: "evt", type: "error", request_id: first!.request_id, error_code: "out_of_gas" });
    await card(page, "forest").getByText("It did not arrive (out_of_gas). You can try again.").waitFor();
    await claim(page, "Forest");
    await card(page, "forest").getByText("On its way").waitFor();
    const [second] = await mints();
    expect(second!.request_id).not.to.equal(first!.request_id);
    release();
    await card(page, "forest").getByText("It is yours: postcard").waitFor();
  });

  it("shows a hostile name as text", async () => {
    const name = "<img src=x onerror=document.title='ran'>";
    const page = await enter(name);
    await claim(page, "City");
    await card(page, "city").getByText("It is yours").waitFor();
    expect(await page.title()).to.equal("Postcards");
    expect(await page.locator("img[src=x]").count()).to.equal(0);
    const [token] = await mintedFor(await walletOn(page));
    expect(token!.metadata.description).to.contain(name);
    expect(browser.problems).to.deep.equal([]);
  });

  it("can be used with a screen reader and on a narrow screen, in light and dark", async () => {
    const page = await enter("Fay");
    await claim(page, "Mountains");
    await card(page, "mountains").getByText("It is yours").waitFor();
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await page.evaluate("document.documentElement.scrollWidth")).to.equal(360);
    const other = await browser.open(shop.url);
    for (const colorScheme of ["light", "dark"] as const) {
      for (const one of [page, other]) {
        await one.emulateMedia({ colorScheme });
        await one.evaluate(axe.source);
        const { violations } = await one.evaluate<axe.AxeResults>("axe.run()");
        expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).to.deep.equal([]);
      }
    }
  });
});
