import { expect } from "chai";

import { waitUntil } from "../../scripts/console/wait-until.ts";
import { expectNoAxeViolations, expectNoSidewaysScrolling, goTo, NARROW, useConsole } from "./support/browser.ts";

const HOSTILE = `<script>document.title="ran"</script><img src=x onerror="document.title='ran'">`;

describe("console > wallets", () => {
  const web = useConsole();

  async function post(path: string, body: Record<string, unknown>): Promise<Record<string, unknown>> {
    const answer = await web.moneta.api.send("POST", path, body);
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    return answer.body;
  }

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
    await post("/v1/accounts", { user_identifier: "carol" });
    const page = await web.open({ screen: "/wallets" });
    await page.getByRole("button", { name: "Create a wallet" }).click();
    await page.getByLabel("User identifier").fill("carol");
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await page.getByRole("alert").filter({ hasText: "already has a wallet" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await waitUntil(page, "document.activeElement.textContent === 'Create a wallet'");
  });

  it("shows holdings as pictures, and unlockable content only when asked", async () => {
    const { address } = (await post("/v1/accounts", { user_identifier: HOSTILE })) as { address: string };
    const made = await post("/v1/collections", { type: "ERC721", name: HOSTILE, symbol: "H" });
    const { nft_collection } = await web.moneta.api.client.waitFor(made["request_id"] as string);
    const mint = await post("/v1/nfts", {
      collection_address: nft_collection,
      to_address: address,
      name: HOSTILE,
      image: `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" onload="document.title='ran'"/>`)}`,
      unlockable_content: `secret ${HOSTILE}`,
    });
    await web.moneta.api.client.waitFor(mint["request_id"] as string);
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
