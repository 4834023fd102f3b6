import { readFile } from "node:fs/promises";

import { expect } from "chai";

import type { Shape } from "../../client/client.ts";
import { expectNoAxeViolations, expectNoSidewaysScrolling, goTo, NARROW, useConsole } from "./support/browser.ts";
import { PNG } from "../support/pictures.ts";

const DONE = "Done. It is on the chain.";

describe("forms of the console that write", () => {
  const console = useConsole();
  let [alice, bob, collection] = ["", "", ""];

  before(async () => {
    const { api } = console.moneta;
    alice = await api.wallet("alice");
    bob = await api.wallet("bob");
    collection = await api.collection({ type: "ERC721", name: "Cats" });
    await api.completed("/v1/nfts", { collection_address: collection, to_address: alice, name: "Tom" });
  });

  it("create a self-hosted ERC1155 collection, from the list of collections", async () => {
    const page = await console.open({ screen: "/collections" });
    await page.getByRole("link", { name: "Create a collection" }).click();
    await page.getByLabel("ERC1155").check();
    await page.getByLabel("Self-hosted").check();
    await page.getByLabel(/^Name/).fill("Gems");
    await page.getByLabel(/^Symbol/).fill("GEM");
    await page.getByLabel(/^Base URI/).fill("https://gems.example/all.json");
    await expectNoAxeViolations(page);
    console.allowProblems(/422/);
    await page.getByRole("button", { name: "Create the collection" }).click();
    await page.getByText("Must contain {id} for an ERC1155 collection").waitFor();
    await page.getByLabel(/^Base URI/).fill("https://gems.example/{id}.json");
    await page.getByRole("button", { name: "Create the collection" }).click();
    await page.getByText(DONE).waitFor();
    await page.getByRole("link", { name: "Open the collection" }).click();
    await page.getByRole("heading", { name: "Gems" }).waitFor();
    await page.getByRole("link", { name: "Mint the first token" }).waitFor();
  });

  it("show what an accepted call probably does not do as it was meant", async () => {
    const page = await console.open({ screen: "/collections/new" });
    await page.getByLabel("Self-hosted").check();
    await page.getByLabel(/^Name/).fill("Flat");
    await page.getByLabel(/^Symbol/).fill("FLAT");
    await page.getByLabel(/^Base URI/).fill("https://cats.example/cats");
    await page.getByRole("button", { name: "Create the collection" }).click();
    await page.getByText("The URI of token 1 will be https://cats.example/cats1").waitFor();
    await expectNoAxeViolations(page);
    await goTo(page, `/collections/${collection}/import`);
    const buffer = Buffer.from("name,user_identifier,external_url\nA {id},alice,\nB,bob,ipfs://b/{id}\nC {id},bob,");
    await page.getByLabel("CSV file").setInputFiles({ name: "flat.csv", mimeType: "text/csv", buffer });
    await page.getByRole("button", { name: "Mint 3 tokens" }).click();
    await page.getByText("Nobody replaces {id} here. Write {token_id}. Lines 2, 4.").waitFor();
    await page.getByText("Nobody replaces {id} here. Write {token_id}. Line 3.").waitFor();
    await expectNoAxeViolations(page);
  });

  it("create a collection with a royalty in percent, and show it afterwards", async () => {
    const page = await console.open({ screen: "/collections/new" });
    await page.getByLabel(/^Name/).fill("Paid");
    await page.getByLabel(/^Symbol/).fill("PAID");
    await page.getByText("More fields").click();
    await page
      .getByLabel(/^Royalty/)
      .first()
      .fill("2.5");
    await page
      .getByLabel(/recipient|gets the royalty/i)
      .first()
      .fill(alice);
    await page.getByRole("button", { name: "Create the collection" }).click();
    await page.getByText(DONE).waitFor();
    await page.getByRole("link", { name: "Open the collection" }).click();
    await page.getByText("2.5 % to alice").waitFor();
    await expectNoAxeViolations(page);
  });

  it("import a CSV file: problems by row and column, then progress and results", async () => {
    const page = await console.open({ screen: `/collections/${collection}/import`, browser: { viewport: NARROW } });
    const choose = (text: string) =>
      page.getByLabel("CSV file").setInputFiles({ name: "cats.csv", mimeType: "text/csv", buffer: Buffer.from(text) });
    console.allowProblems(/404/);
    const [template] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download a template" }).click(),
    ]);
    const head = await readFile(await template.path(), "utf8");
    expect(head).to.match(/^file,token_id,to_address,user_identifier,name,.*attributes\.NAME\n$/);
    await choose("x".repeat(5 * 2 ** 20 + 1));
    await page.getByText("The file has more than 5 MiB. Split it into several.").waitFor();
    await choose(head);
    await page.getByText("The table has no rows.").waitFor();
    await choose("name,user_identifier,image\nA,eve,\nB,bob,cat.png");
    await page.getByText("2 problems found").waitFor();
    await page.getByText('No wallet of the app has the user identifier "eve".').waitFor();
    await expectNoAxeViolations(page);
    await expectNoSidewaysScrolling(page);
    await choose("name,user_identifier,attributes.fur\nA,alice,red\nB,bob,green");
    await page.getByText("2 rows, no problem found").waitFor();
    await page.getByRole("button", { name: "Mint 2 tokens" }).click();
    await page.getByText("2 minted, 0 failed, 0 on their way, 0 left.").waitFor();
    await expectNoAxeViolations(page);
    // The browser remembers the run: the same file is not minted twice.
    await page.reload();
    await choose("name,user_identifier,attributes.fur\nA,alice,red\nB,bob,green");
    await page.getByText("2 minted, 0 failed").waitFor();
    expect(await page.getByRole("button", { name: /^(Mint|Continue)/ }).count()).to.equal(0);
  });

  it("continue an import whose answer was lost, after the page was loaded again, and mint each row once", async () => {
    const page = await console.open({ screen: `/collections/${collection}/import` });
    console.allowProblems(/Failed to load resource/);
    const choose = () => {
      const buffer = Buffer.from("name,user_identifier\nLost 1,alice\nLost 2,alice\n");
      return page.getByLabel("CSV file").setInputFiles({ name: "lost.csv", mimeType: "text/csv", buffer });
    };
    const keys: string[] = [];
    await page.route("**/v1/nfts/batch", async (route) => {
      keys.push((await route.request().headerValue("idempotency-key")) ?? "");
      await route.fetch();
      await route.abort();
    });
    await choose();
    await page.getByRole("button", { name: "Mint 2 tokens" }).click();
    await page.getByText("The service does not answer.").waitFor();
    await page.getByText("2 of 2 rows are left. Continue: no row is minted twice.").waitFor();
    expect(new Set(keys).size).to.equal(1);
    await page.unroute("**/v1/nfts/batch");
    await page.reload();
    await choose();
    await page.getByText("This file was begun on").waitFor();
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByText("2 minted, 0 failed, 0 on their way, 0 left.").waitFor();
    const { total } = await console.moneta.api.ok<Shape<"NftsPage">>(
      "GET",
      `/v1/collections/${collection}?search=Lost`,
    );
    expect(total).to.equal(2);
  });

  it("import a CSV file for users without wallets, if the person chose so", async () => {
    const page = await console.open({ screen: `/collections/${collection}/import` });
    console.allowProblems(/404/);
    const buffer = Buffer.from("name,user_identifier,reference\nC,new user,order-7\nD,new user,");
    await page.getByLabel("CSV file").setInputFiles({ name: "new.csv", mimeType: "text/csv", buffer });
    await page.getByText("2 problems found").waitFor();
    await page.getByLabel("Create wallets for users").check();
    await page.getByText("2 rows, no problem found").waitFor();
    await expectNoAxeViolations(page);
    await page.getByRole("button", { name: "Mint 2 tokens" }).click();
    await page.getByText("2 minted, 0 failed, 0 on their way, 0 left.").waitFor();
    const { api } = console.moneta;
    const { address } = await api.ok<Shape<"Wallet">>("GET", "/v1/accounts/user/new%20user");
    const { total } = await api.ok<Shape<"HeldNftsPage">>("GET", `/v1/accounts/${address}`);
    expect(total).to.equal(2);
    const { requests } = await api.ok<Shape<"RequestsPage">>("GET", "/v1/requests?reference=order-7");
    await page.goto(`${page.url().split("#")[0] ?? ""}#/requests/${requests[0]?.request_id ?? ""}`);
    await page.getByText("order-7").waitFor();
  });

  it("mint the good rows of a file, and none of them again from a corrected file", async () => {
    const page = await console.open({ screen: `/collections/${collection}/import` });
    console.allowProblems(/404/);
    const choose = (text: string) =>
      page.getByLabel("CSV file").setInputFiles({ name: "mix.csv", mimeType: "text/csv", buffer: Buffer.from(text) });
    await page.getByLabel("Pictures").setInputFiles({ name: "e.png", mimeType: "image/png", buffer: PNG });
    const head = "file,name,user_identifier";
    await choose(`${head}\ne.png,E,alice\n,F,nobody\n,=G(),alice,too many\n,H,bob\n`);
    await page.getByText("2 of 4 rows are good.").waitFor();
    await page.getByRole("img", { name: "Picture of line 2" }).waitFor();
    await expectNoAxeViolations(page);
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download the 2 bad rows" }).click(),
    ]);
    const bad = await readFile(await file.path(), "utf8");
    expect(bad).to.match(/^file,name,user_identifier,error\r\n/);
    expect(bad).to.contain('No wallet of the app has the user identifier ""nobody"".');
    expect(bad).to.not.contain("e.png").and.to.not.contain("bob");
    await page.getByRole("button", { name: "Mint the 2 good rows" }).click();
    await page.getByText("2 minted, 0 failed, 0 on their way, 0 left.").waitFor();
    await expectNoAxeViolations(page);
    // The same file again: nothing is left of its good rows.
    await page.reload();
    await choose(`${head}\ne.png,E,alice\n,F,nobody\n,=G(),alice,too many\n,H,bob\n`);
    await page.getByLabel("Pictures").setInputFiles({ name: "e.png", mimeType: "image/png", buffer: PNG });
    await page.getByText("2 minted, 0 failed").waitFor();
    expect(await page.getByRole("button", { name: /^(Mint|Continue)/ }).count()).to.equal(0);
    // The corrected file with all rows: only those that were wrong are minted.
    await choose(`${head}\ne.png,E,alice\n,F,alice\n,=G(),alice\n,H,bob\n`);
    await page.getByText("2 of 4 rows are good.").waitFor();
    await page.getByText("Sent before, on").first().waitFor();
    await page.getByRole("button", { name: "Mint the 2 good rows" }).click();
    await page.getByText("2 minted, 0 failed, 0 on their way, 0 left.").waitFor();
    const { api } = console.moneta;
    const { requests } = await api.ok<Shape<"RequestsPage">>("GET", `/v1/requests?collection=${collection}&type=mint`);
    const names = await Promise.all(
      requests.slice(0, 4).map(async ({ nft_token_id: id }) => {
        const token = await api.ok<Shape<"Erc721Nft">>("GET", `/v1/collections/${collection}/${String(id)}`);
        return token.metadata?.name;
      }),
    );
    expect(names.sort()).to.deep.equal(["=G()", "E", "F", "H"]);
    await page.getByLabel("Mint again the rows").check();
    await page.getByText("4 rows, no problem found").waitFor();
  });

  it("change the metadata of a token, and transfer it", async () => {
    const page = await console.open({ screen: `/collections/${collection}/1` });
    await page.getByRole("link", { name: "Change" }).click();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Nothing is different from before.").waitFor();
    await page.getByLabel(/^Name/).fill("Tom the second");
    await expectNoAxeViolations(page);
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText(DONE).waitFor();
    await page.getByRole("link", { name: "Open the token" }).click();
    await page.getByRole("heading", { name: "Tom the second" }).waitFor();
    await page.getByRole("link", { name: "Transfer" }).click();
    await page.getByRole("combobox", { name: /^To/ }).fill("bob");
    await expectNoAxeViolations(page);
    await page.getByRole("button", { name: "Transfer" }).click();
    await page.getByText(DONE).waitFor();
    const token = await console.moneta.api.ok<Shape<"Erc721Nft">>("GET", `/v1/collections/${collection}/1`);
    expect(token.owner).to.equal(bob);
  });

  it("burn a token only after a dialog that says what it means, and list the request by its type", async () => {
    const { api } = console.moneta;
    const minted = await api.completed("/v1/nfts", { collection_address: collection, to_address: bob, name: "Ash" });
    const id = String(minted.nft_token_id);
    const page = await console.open({ screen: `/collections/${collection}/${id}` });
    await page.getByRole("link", { name: "Burn" }).click();
    await page.getByText("This can never be undone.").waitFor();
    await expectNoAxeViolations(page);
    const ask = page.getByRole("button", { name: "Burn for ever" });
    const dialog = page.getByRole("dialog", { name: "This cannot be undone" });
    await ask.click();
    await dialog.waitFor();
    await expectNoAxeViolations(page);
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.waitFor({ state: "hidden" });
    expect((await api.ok<Shape<"RequestsPage">>("GET", "/v1/requests?type=burn")).requests).to.deep.equal([]);

    await ask.click();
    await dialog.getByRole("button", { name: "Burn for ever" }).click();
    await page.getByText(DONE).waitFor();
    await page.getByRole("link", { name: "Open the token" }).click();
    await page.getByText("Nobody: the token was burnt.").waitFor();
    expect(await page.getByRole("link", { name: "Burn" }).count()).to.equal(0);
    const { requests } = await api.ok<Shape<"RequestsPage">>("GET", "/v1/requests?type=burn");
    expect(requests.map((request) => String(request.nft_token_id))).to.deep.equal([id]);
    await goTo(page, "/requests");
    await page.getByLabel(/^Type/).selectOption({ label: "Burn" });
    await page.getByRole("button", { name: "Find" }).click();
    await page.getByRole("row").filter({ hasText: "Burn" }).first().waitFor();
  });

  it("burn copies: ask only for a number that can be burnt, and show what is wrong at the amount", async () => {
    const { api } = console.moneta;
    const wallet = await api.wallet();
    const editions = await api.collection({ type: "ERC1155", name: "Editions" });
    const copies = { collection_address: editions, token_id: 7, initial_supply: 2, initial_owner: wallet };
    await api.completed("/v1/nfts", copies);
    const page = await console.open({ screen: `/burn/${wallet}/${editions}/7` });
    console.allowProblems(/422/);
    const dialog = page.getByRole("dialog", { name: "This cannot be undone" });
    const amount = page.getByLabel(/^Amount/);
    const said = async () =>
      page.locator(`#${(await amount.getAttribute("aria-describedby"))?.split(" ").join(", #") ?? ""}`).allInnerTexts();
    await page.getByRole("button", { name: "Burn for ever" }).click();
    await page.getByText("This field is required.").waitFor();
    expect(await dialog.count()).to.equal(0);
    await amount.fill("3");
    await page.getByRole("button", { name: "Burn for ever" }).click();
    await dialog.getByRole("button", { name: "Burn for ever" }).click();
    await dialog.waitFor({ state: "hidden" });
    await page.locator('[aria-invalid="true"]').waitFor();
    expect((await said()).join(" ")).to.match(/fewer|enough|holds/i);
    expect(await page.getByText("token_id").count()).to.equal(0);
  });

  it("change a collection, and freeze it only after its name is typed", async () => {
    const page = await console.open({ screen: `/collections/${collection}` });
    await page.getByRole("link", { name: "Change" }).click();
    await page.getByLabel(/^Description/).fill("All of them");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText(DONE).waitFor();
    await page.getByRole("link", { name: "Open the collection" }).click();
    await page.getByRole("link", { name: "Freeze" }).click();
    await page.getByRole("button", { name: "Freeze for ever" }).click();
    await page.getByText("This is not the name.").waitFor();
    await expectNoAxeViolations(page);
    await page.getByLabel(/^Type the name/).fill("Cats");
    await page.getByRole("button", { name: "Freeze for ever" }).click();
    await page.getByText(DONE).waitFor();
  });
});
