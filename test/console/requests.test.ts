import { expect } from "chai";

import type { Shape } from "../../client/client.ts";
import { expectNoAxeViolations, expectNoSidewaysScrolling, goTo, NARROW, useConsole } from "./support/browser.ts";

const HOLDER = "0x00000000000000000000000000000000000000b1";

describe("console > requests", () => {
  const web = useConsole();
  const { api } = web.moneta;
  let collection: string;

  it("says what to do when there is none", async () => {
    const page = await web.open({ screen: "/requests" });
    await page.getByText("No requests yet").waitFor();
    await expectNoAxeViolations(page);
  });

  it("shows a new request and its end without reloading", async () => {
    const page = await web.open({ screen: "/requests" });
    await page.getByText("No requests yet").waitFor();
    await page.getByText("Live", { exact: true }).waitFor();
    collection = await api.collection({ type: "ERC721", name: "Live" });
    const row = page.getByRole("row", { name: /Create a collection/ });
    await row.getByText("Completed").waitFor();
    await page.getByLabel("Order").selectOption("oldest");
    await page.getByRole("table", { name: "Requests, oldest first" }).waitFor();
    await page.getByRole("button", { name: "Failed" }).click();
    await page.getByText("No requests are failed").waitFor();
    await page.getByRole("button", { name: "Completed" }).click();
    await row.getByRole("link", { name: /Create a collection/ }).waitFor();
    await expectNoAxeViolations(page);
  });

  it("finds requests by their reference", async () => {
    const reference = "<b>order 7</b>";
    const made = { collection_address: collection, to_address: HOLDER };
    await api.completed("/v1/nfts", { ...made, reference });
    await api.completed("/v1/nfts", { ...made, reference: "order 8" });
    const page = await web.open({ screen: "/requests" });
    const rows = page.getByRole("table").getByRole("link", { name: /^Mint/ });
    await rows.nth(1).waitFor();
    await page.getByLabel("Find by reference").fill(reference);
    await page.getByLabel("Find by reference").press("Enter");
    await rows.nth(1).waitFor({ state: "detached" });
    await expectNoAxeViolations(page);
    await rows.click();
    await page.getByText(reference, { exact: true }).waitFor();
    await goTo(page, "/requests");
    await page.getByLabel("Find by reference").fill("Order 8");
    await page.getByRole("button", { name: "Find" }).click();
    await page.getByText("Capital letters count.").waitFor();
  });

  it("finds requests by collection, user and type, and by the links of a wallet and a collection", async () => {
    const address = await api.wallet("filter-user");
    const other = await api.collection({ type: "ERC721", name: "Filtered", symbol: "FIL" });
    await api.completed("/v1/nfts", { collection_address: other, to_address: address });
    await api.completed("/v1/nfts", { collection_address: collection, to_address: address });
    const page = await web.open({ screen: "/requests" });
    const rows = page.getByRole("table").getByRole("link", { name: /^(Mint|Create)/ });
    await rows.nth(2).waitFor();
    await page.getByLabel("User or address").fill("filter-user");
    await page.getByRole("button", { name: "Find" }).click();
    await rows.nth(2).waitFor({ state: "detached" });
    await rows.nth(1).waitFor();
    expect(await rows.count()).to.equal(2);
    await page.getByLabel("Collection").fill("filt");
    await page.getByLabel("Type").selectOption("mint");
    await page.getByRole("button", { name: "Find" }).click();
    await rows.nth(1).waitFor({ state: "detached" });
    await rows.waitFor();
    await expectNoAxeViolations(page);
    await page.getByLabel("Collection").fill("none such");
    await page.getByRole("button", { name: "Find" }).click();
    await page.getByText("No collection has a name or symbol that begins with “none such”.").waitFor();
    await goTo(page, `/wallets/${address}`);
    await page.getByRole("link", { name: "Its requests" }).click();
    await rows.nth(1).waitFor();
    expect(await page.getByLabel("User or address").inputValue()).to.equal(address);
    await goTo(page, `/collections/${other}`);
    await page.getByRole("link", { name: "Show them" }).click();
    await page.getByRole("heading", { name: "Requests", level: 1 }).waitFor();
    await rows.nth(1).waitFor();
    await page.setViewportSize(NARROW);
    await expectNoSidewaysScrolling(page);
  });

  it("shows gas, fee and the other requests of the transaction", async () => {
    // Accepted in one commit, they share a transaction.
    const items = Array(2).fill({ collection_address: collection, to_address: HOLDER });
    const { results } = await api.ok<Shape<"BatchResults">>("POST", "/v1/nfts/batch", { items });
    const ids = results.flatMap((result) => ("request_id" in result ? result.request_id : []));
    expect(ids).to.have.length(2);
    const [first] = await Promise.all(ids.map((id) => api.client.waitFor(id)));
    const page = await web.open({ screen: `/requests/${ids[0]!}` });
    await page.getByText("The token is minted.").waitFor();
    await page.getByTitle(`${first!.fee_wei!} wei`).waitFor();
    await page.getByText("They share its gas and its fee.").waitFor();
    await page.getByRole("link", { name: /Mint/ }).waitFor();
    await expectNoAxeViolations(page);
  });

  it("changes a request's page without reloading, on a narrow and dark page", async () => {
    await web.moneta.provider.send("evm_setAutomine", [false]);
    try {
      const id = await api.accept("/v1/nfts", { collection_address: collection, to_address: HOLDER });
      const page = await web.open({ screen: `/requests/${id}`, browser: { viewport: NARROW, colorScheme: "dark" } });
      await page.getByText("It is not mined yet.").waitFor();
      await web.moneta.provider.send("evm_setAutomine", [true]);
      await web.moneta.provider.send("evm_mine", []);
      await page.getByText("The token is minted.").waitFor();
      await expectNoSidewaysScrolling(page);
      await expectNoAxeViolations(page);
      await goTo(page, "/requests");
      await page.getByRole("row", { name: /Mint/ }).first().waitFor();
      await expectNoSidewaysScrolling(page);
      await expectNoAxeViolations(page);
    } finally {
      await web.moneta.provider.send("evm_setAutomine", [true]);
    }
  });

  it("says why a request failed and what to do", async () => {
    const id = await api.accept("/v1/nfts", {
      collection_address: collection,
      to_address: HOLDER,
      name: "<img src=x onerror=\"document.title='ran'\">",
      image: "http://10.0.0.1/picture.png",
      copy_media: true,
    });
    const page = await web.open({ screen: `/requests/${id}` });
    await page.getByText("Failed", { exact: true }).waitFor();
    await page.getByText("not sent", { exact: true }).waitFor();
    const { error_code: code } = await api.settled(id);
    await page.getByRole("link", { name: `About ${code!}` }).waitFor();
    expect(await page.title()).not.to.equal("ran");
    await expectNoAxeViolations(page);
  });

  it("shows in the list who gets the token and why a request failed, and sends it again", async () => {
    const address = await api.wallet("receiver");
    const mint = { collection_address: collection, image: "http://10.0.0.1/picture.png", copy_media: true };
    const ids: string[] = [];
    for (const to of [address, HOLDER]) ids.push(await api.accept("/v1/nfts", { ...mint, to_address: to }));
    for (const id of ids) await api.settled(id);
    const page = await web.open({ screen: "/requests/state/failed" });
    const row = page.getByRole("row").filter({ has: page.getByRole("link", { name: "receiver" }) });
    await row.getByText("media blocked").waitFor();
    await page
      .getByTitle(/^0x0{38}b1$/i)
      .first()
      .waitFor();
    await expectNoAxeViolations(page);
    await page.setViewportSize(NARROW);
    await expectNoSidewaysScrolling(page);
    await row.getByRole("button", { name: "Send again" }).click();
    await page.getByText("Sends again", { exact: true }).waitFor();
    const again = page.url().split("/").at(-1) ?? "";
    expect(await api.ok("GET", `/v1/requests/${again}`)).to.include({ retry_of: ids[0] });
    await api.settled(again);
    await goTo(page, "/requests/state/failed");
    await page.getByRole("link", { name: "Sent again" }).waitFor();
    expect(await page.getByRole("button", { name: "Send again" }).count()).to.be.greaterThan(1);
  });

  it("says when a request does not exist", async () => {
    web.allowProblems(/404/);
    const page = await web.open({ screen: `/requests/${"0".repeat(64)}` });
    await page.getByText("Not found, or it belongs to another app.").waitFor();
    await page.getByRole("button", { name: "Try again" }).waitFor();
  });
});
