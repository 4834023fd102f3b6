import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import { expect } from "chai";
import type { Page } from "playwright-core";

import type { Shape } from "../../client/client.ts";
import { useFolder } from "../support/use-folder.ts";
import { PNG } from "../support/pictures.ts";
import { expectNoAxeViolations, expectNoSidewaysScrolling, NARROW, useConsole } from "./support/browser.ts";

const DONE = "0 failed, 0 on their way, 0 left.";

describe("the import of the console", () => {
  const console = useConsole();
  const folder = useFolder();
  let collection = "";

  before(async () => {
    const { api } = console.moneta;
    await api.wallet("alice");
    await api.wallet("bob");
  });
  beforeEach(async () => {
    collection = await console.moneta.api.collection({ type: "ERC721", name: "Cats" });
    // Users that have no wallet are looked up.
    console.allowProblems(/404|ERR_/);
  });

  const open = (browser = {}) => console.open({ screen: `/collections/${collection}/import`, browser });
  const tableIn = (page: Page) => (text: string, name: string) =>
    page.getByLabel("Files").setInputFiles({ name, mimeType: "text/csv", buffer: Buffer.from(text) });
  const minted = (page: Page, count: number) => page.getByText(`${count.toString()} minted, ${DONE}`).waitFor();
  const total = async (query = "") =>
    (await console.moneta.api.ok<Shape<"NftsPage">>("GET", `/v1/collections/${collection}${query}`)).total;

  async function folderOf(name: string, files: Record<string, string | Buffer>): Promise<string> {
    for (const [file, content] of Object.entries(files)) {
      const path = join(folder.path, name, file);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, content);
    }
    return join(folder.path, name);
  }

  it("mints the output of HashLips from its folder, which it names, and shows file, token id and receiver", async () => {
    const image = "ipfs://NewUriToReplace/1.png";
    const cats = Array.from({ length: 12 }, (_cat, index) => ({
      name: `Cat ${(index + 1).toString()}`,
      dna: "a",
      edition: index + 1,
      image,
    }));
    const path = await folderOf("cats", {
      ...Object.fromEntries(cats.map((cat) => [`build/json/${cat.edition.toString()}.json`, JSON.stringify(cat)])),
      ...Object.fromEntries(cats.map((cat) => [`build/images/${cat.edition.toString()}.png`, PNG])),
      "build/json/_metadata.json": JSON.stringify(cats),
    });
    const page = await open({ viewport: NARROW });
    await page.getByLabel("Folder").setInputFiles(path);
    await page.getByText("Say who gets the tokens: the files do not say it.").waitFor();
    await page.getByLabel(/^To/).fill("alice");
    await page.keyboard.press("Tab");
    await page.getByText("12 tokens: to 0 addresses, 1 user, 0 of them new.").waitFor();
    await page.getByText("This is the output of HashLips").waitFor();
    await page.getByRole("img", { name: "Picture of build/json/1.json" }).waitFor();
    expect(await page.getByText("build/json/12.json").count()).to.equal(0);
    await page.getByRole("button", { name: "Show all 12 tokens" }).click();
    await page.getByRole("row").filter({ hasText: "build/json/12.json" }).filter({ hasText: "Cat 12" }).waitFor();
    await expectNoAxeViolations(page);
    await expectNoSidewaysScrolling(page);
    await page.getByRole("button", { name: "Mint 12 tokens" }).click();
    await minted(page, 12);
    await expectNoAxeViolations(page);
    const token = await console.moneta.api.ok<Shape<"Erc721Nft">>("GET", `/v1/collections/${collection}/12`);
    expect(token.metadata?.name).to.equal("Cat 12");
    expect(token.metadata?.image).to.match(/^ipfs:\/\/baf/);
  });

  it("says that 0.json becomes token 1, where pictures stay, and each fault of a JSON file once, with its line", async () => {
    const page = await open();
    const file = (name: string, text: string) => ({ name, mimeType: "application/json", buffer: Buffer.from(text) });
    const image = "https://cats.example/0.png";
    await page
      .getByLabel("Files")
      .setInputFiles([
        file("0.json", JSON.stringify({ name: "Zero", image, owner: "bob" })),
        file("1.json", '{\n  "name": "One",\n  "owner": "alice",\n}'),
      ]);
    await page.getByText("1 problem found").waitFor();
    await page.getByText("1.json, line 4, column 1").waitFor();
    await page.getByText("1 of 2 tokens are good.").waitFor();
    await page.getByText("0.json (id 0) becomes token 1.").waitFor();
    await page.getByText("1 picture or other file stays elsewhere: 1 at cats.example.").waitFor();
    await page.getByLabel("Copy media").check();
    await page.getByText("The service copies 1 picture or other file: 1 at cats.example.").waitFor();
    await page.getByRole("button", { name: "Remove all 2 files" }).click();
    await page.getByText("1 problem found").waitFor({ state: "detached" });
  });

  it("takes a folder that is dropped on the page, and a table beside its pictures", async () => {
    const page = await open();
    await page.getByLabel("Folder").waitFor();
    await page.evaluate(`(() => {
      const files = [["cats.csv", "file,name,owner\\na.png,A,bob\\n"], ["a.png", "x"]].map(([name, text]) => new File([text], name));
      const transfer = new DataTransfer();
      for (const file of files) transfer.items.add(file);
      document.querySelector(".drop-area").dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
    })()`);
    await page.getByText("1 token: to 0 addresses, 1 user, 0 of them new.").waitFor();
    await page.getByText("cats.csv, line 2 (a.png)").waitFor();
  });

  it("lists the problems of a table, then mints it, and remembers it after a reload", async () => {
    const page = await open({ viewport: NARROW });
    const [template] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download a template" }).click(),
    ]);
    const head = await readFile(await template.path(), "utf8");
    expect(head).to.match(/^file,token_id,to_address,user_identifier,name,.*attributes\.NAME\n$/);
    const choose = (text: string) => tableIn(page)(text, "cats.csv");
    await choose(head);
    await page.getByText("The table has no rows.").waitFor();
    await choose("name,user_identifier,image\nA,eve,\nB,bob,cat.png");
    await page.getByText("2 problems found").waitFor();
    await page.getByText('No wallet of the app has the user identifier "eve".').waitFor();
    await page.getByText("the file cat.png does not exist").waitFor();
    await expectNoAxeViolations(page);
    await expectNoSidewaysScrolling(page);
    const good = "name,user_identifier,attributes.fur\nA,alice,red\nB,bob,green";
    await choose(good);
    await page.getByText("2 of 2 tokens have no picture.").waitFor();
    await page.getByRole("button", { name: "Mint 2 tokens" }).click();
    await minted(page, 2);
    await expectNoAxeViolations(page);
    await page.reload();
    await choose(good);
    await minted(page, 2);
    expect(await page.getByRole("button", { name: /^(Mint|Continue)/ }).count()).to.equal(0);
  });

  it("continues after a lost answer and a reload, and mints each row once", async () => {
    const page = await open();
    console.allowProblems(/Failed to load resource/);
    const choose = () => tableIn(page)("name,user_identifier\nLost 1,alice\nLost 2,alice\n", "lost.csv");
    const keys: string[] = [];
    await page.route("**/v1/nfts/batch", async (route) => {
      keys.push((await route.request().headerValue("idempotency-key")) ?? "");
      await route.fetch();
      await route.abort();
    });
    await choose();
    await page.getByRole("button", { name: "Mint 2 tokens" }).click();
    await page.getByText("The service does not answer.").waitFor();
    await page.getByText("2 of 2 tokens are left. Continue: no token is minted twice.").waitFor();
    expect(new Set(keys).size).to.equal(1);
    await page.unroute("**/v1/nfts/batch");
    await page.reload();
    await choose();
    await page.getByText("This import was begun on").waitFor();
    await page.getByRole("button", { name: "Continue" }).click();
    await minted(page, 2);
    expect(await total("?search=Lost")).to.equal(2);
  });

  it("mints each row once although two tabs begin the same table", async () => {
    const one = await open();
    const two = await one.context().newPage();
    await two.goto(one.url());
    const choose = (page: Page) => tableIn(page)("name,user_identifier\nTwin 1,alice\nTwin 2,alice\n", "twins.csv");
    const mint = (page: Page) => page.getByRole("button", { name: "Mint 2 tokens" });
    for (const page of [one, two]) {
      await choose(page);
      await mint(page).waitFor();
    }
    for (const page of [one, two]) {
      await mint(page).click();
      await minted(page, 2);
    }
    expect(await total("?search=Twin")).to.equal(2);
  });

  it("makes wallets for new users, if the person chose so", async () => {
    const page = await open();
    await tableIn(page)("name,user_identifier,reference\nC,new user,order-7\nD,new user,", "new.csv");
    await page.getByText("2 problems found").waitFor();
    await page.getByLabel("Create wallets for users").check();
    await page.getByText("2 tokens: to 0 addresses, 1 user, 1 of them new: new user.").waitFor();
    await expectNoAxeViolations(page);
    await page.getByRole("button", { name: "Mint 2 tokens" }).click();
    await minted(page, 2);
    const { api } = console.moneta;
    const { address } = await api.ok<Shape<"Wallet">>("GET", "/v1/accounts/user/new%20user");
    expect((await api.ok<Shape<"HeldNftsPage">>("GET", `/v1/accounts/${address}`)).total).to.equal(2);
    expect((await api.ok<Shape<"RequestsPage">>("GET", "/v1/requests?reference=order-7")).requests.length).to.equal(1);
  });

  it("mints the good tokens of a table, and none of them again from the corrected table", async () => {
    const page = await open();
    const choose = (text: string) => tableIn(page)(text, "mix.csv");
    const head = "file,name,user_identifier";
    await choose(`${head}\ne.png,E,alice\n,F,nobody\n,=G(),alice,too many\n,H,bob\n`);
    await page.getByLabel("Files").setInputFiles({ name: "e.png", mimeType: "image/png", buffer: PNG });
    await page.getByText("2 of 4 tokens are good.").waitFor();
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download the 2 problems as a table" }).click(),
    ]);
    const bad = await readFile(await file.path(), "utf8");
    expect(bad).to.match(/^file,name,user_identifier,error\r\n/);
    expect(bad).to.contain('No wallet of the app has the user identifier ""nobody"".');
    expect(bad).to.not.contain("e.png").and.to.not.contain("bob");
    await page.getByRole("button", { name: "Mint 2 tokens" }).click();
    await minted(page, 2);
    await choose(`${head}\ne.png,E,alice\n,F,alice\n,=G(),alice\n,H,bob\n`);
    await page.getByText("2 tokens of these were sent by another import").waitFor();
    await page.getByRole("button", { name: "Mint 2 tokens" }).click();
    await minted(page, 2);
    expect(await total()).to.equal(4);
    await page.getByLabel("Mint again the tokens").check();
    await page
      .getByRole("button", { name: "Mint 4 tokens" })
      .or(page.getByRole("button", { name: "Continue" }))
      .waitFor();
  });

  it("takes the URI of each token of a self-hosted ERC1155 collection from a table", async () => {
    collection = await console.moneta.api.collection({
      type: "ERC1155",
      base_uri: "https://cats.example/{id}",
      name: "Own",
    });
    const page = await open();
    await tableIn(page)("token_id,uri,user_identifier\n1,cats,alice\n2,ipfs://cats/2,alice\n", "own.csv");
    await page.getByText("uri: Must be a URI with one of the schemes http, https, ipfs, ar, data.").waitFor();
    await page.getByRole("button", { name: "Mint 1 token" }).click();
    await minted(page, 1);
    const token = await console.moneta.api.ok<Shape<"Nft">>("GET", `/v1/collections/${collection}/2`);
    expect(token.token_uri).to.equal("ipfs://cats/2");
  });

  it("asks before the import whether tokens can arrive, and leaves out the tokens of who refuses them", async () => {
    const page = await open();
    const refusing = `name,to_address,user_identifier\nA,${collection},\nB,${collection},\nC,,bob\n`;
    await tableIn(page)(refusing, "refused.csv");
    await page.getByText("Whether tokens can arrive: 1 of 1 address was checked.").waitFor();
    await page.getByText("1 of 3 tokens are good.").waitFor();
    expect(await page.getByText(`owner: ${collection} does not accept the token`).count()).to.equal(2);
    await expectNoAxeViolations(page);
    await page.getByRole("button", { name: "Mint 1 token" }).click();
    await minted(page, 1);
  });
});
