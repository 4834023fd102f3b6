import { expect } from "chai";

import { adoptWallets } from "../../api/commands/adopt-wallets.ts";
import { waitUntil } from "../../scripts/console/wait-until.ts";
import { expectNoAxeViolations, expectNoSidewaysScrolling, goTo, NARROW, useConsole } from "./support/browser.ts";

const HOSTILE = `<script>document.title="ran"</script><img src=x onerror="document.title='ran'">`;

describe("console > wallets", () => {
  const web = useConsole();

  it("creates a wallet by keyboard, and finds it by its user", async () => {
    web.allowProblems(/404/);
    const page = await web.open({ screen: "/wallets" });
    await page.getByText("No wallets yet").waitFor();
    await expectNoAxeViolations(page);
    await page.getByRole("button", { name: "Create a wallet" }).press("Enter");
    await page.getByLabel("User identifier").fill("alice");
    await expectNoAxeViolations(page);
    await page.getByLabel("User identifier").press("Enter");
    await page.getByRole("heading", { name: "Wallet of alice", exact: true }).waitFor();
    await page.getByText("This wallet holds no tokens").waitFor();
    await page.getByRole("region", { name: "Your last call" }).getByText("POST /v1/accounts").waitFor();
    await expectNoAxeViolations(page);
    await goTo(page, "/wallets");
    await page.getByLabel("Find a wallet").fill("bob");
    await page.getByLabel("Find a wallet").press("Enter");
    await page.getByText("No wallet of this app has the user identifier").waitFor();
    await page.getByLabel("Find a wallet").fill("alice");
    await page.getByLabel("Find a wallet").press("Enter");
    await page.getByText("This wallet holds no tokens").waitFor();
  });

  it("says at the field that a user has a wallet already", async () => {
    web.allowProblems(/422/);
    await web.moneta.api.wallet("carol");
    const page = await web.open({ screen: "/wallets" });
    await page.getByRole("button", { name: "Create a wallet" }).click();
    await page.getByLabel("User identifier").fill("carol");
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await page.getByRole("alert").filter({ hasText: "already has a wallet" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await waitUntil(page, "document.activeElement.textContent === 'Create a wallet'");
  });

  it("marks an address whose key is not at the service", async () => {
    const { database, contracts } = web.moneta.service;
    const address = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
    await adoptWallets(database, contracts, web.moneta.app.appId, [{ user: "eva", address }]);
    const page = await web.open({ screen: "/wallets" });
    await page
      .getByRole("row", { name: /eva Watch-only/ })
      .getByRole("link")
      .first()
      .click();
    await page.getByText("The key of this address is not at the service").waitFor();
    await expectNoAxeViolations(page);
  });

  it("renames the user of a wallet, and removes the name", async () => {
    web.allowProblems(/422/);
    const address = await web.moneta.api.wallet("dora");
    const page = await web.open({ screen: `/wallets/${address}` });
    for (const [name, title] of [
      ["dorothy", "Wallet of dorothy"],
      ["", "Wallet"],
    ] as const) {
      await page.getByRole("button", { name: "Rename the user" }).click();
      await page.getByLabel("User identifier").fill("carol");
      await page.getByRole("button", { name: "Rename", exact: true }).click();
      await page.getByRole("alert").filter({ hasText: "already" }).waitFor();
      await page.getByLabel("User identifier").fill(name);
      await expectNoAxeViolations(page);
      await page.getByRole("button", { name: "Rename", exact: true }).click();
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await page.getByRole("heading", { name: title, exact: true }).waitFor();
    }
    expect(await web.moneta.api.ok("GET", `/v1/accounts?addresses=${address}`)).to.deep.include({
      wallets: [{ address, user_identifier: null, watch_only: false }],
    });
  });

  it("shows holdings as pictures, and unlockable content only when asked", async () => {
    const { api } = web.moneta;
    await api.completed("/v1/nfts", {
      collection_address: await api.collection({ type: "ERC721", name: HOSTILE, symbol: "H" }),
      to_address: await api.wallet(HOSTILE),
      name: HOSTILE,
      image: `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" onload="document.title='ran'"/>`)}`,
      unlockable_content: `secret ${HOSTILE}`,
    });
    const page = await web.open({ screen: "/wallets", browser: { viewport: NARROW } });
    await page.getByRole("link", { name: HOSTILE }).click();
    const show = page.getByRole("button", { name: "Show the unlockable content" });
    await show.waitFor();
    expect(await page.getByText("secret").count()).to.equal(0);
    await expectNoSidewaysScrolling(page);
    await show.click();
    await page.getByText(`secret ${HOSTILE}`).waitFor();
    await page.getByRole("cell", { name: "Minted" }).waitFor();
    await expectNoSidewaysScrolling(page);
    await expectNoAxeViolations(page);
    await page.getByRole("button", { name: "Hide the content" }).click();
    await page.getByText("secret").waitFor({ state: "detached" });
    expect(await page.title()).not.to.equal("ran");
  });
});
