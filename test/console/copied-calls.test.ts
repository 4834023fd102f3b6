import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "chai";
import type { Locator, Page } from "playwright-core";

import type { Shape } from "../../client/client.ts";
import type { paths } from "../../client/document.ts";
import { useFolder } from "../support/use-folder.ts";
import { copied, expectNoAxeViolations, goTo, lastCall, useConsole } from "./support/browser.ts";
import { runCurl, runTypeScript } from "./support/run-copied.ts";

const DONE = "Done. It is on the chain.";
const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><rect width="8" height="8" fill="red"/></svg>';
const PICTURE = { name: "a cat's.svg", mimeType: "image/svg+xml", buffer: Buffer.from(SVG) };
const KEY = /Idempotency-Key"?: ?"?([0-9a-f]{32})/;

type CreatedToken = paths["/v1/tokens"]["post"]["responses"]["200"]["content"]["application/json"];

describe("what the console copies, when it runs", () => {
  const web = useConsole();
  const folder = useFolder();

  const options = () => ({ cwd: folder.path, env: { MONETA_TOKEN: web.moneta.app.token } });

  /** Presses both buttons, and runs what they copy. @returns the answers of the service */
  async function runBoth<T>(page: Page, part: Page | Locator = page): Promise<[curl: T, typeScript: T]> {
    const command = await copied(page, "Copy as curl", part);
    const code = await copied(page, "Copy as TypeScript", part);
    const [one, other] = [KEY.exec(command)?.[1], KEY.exec(code)?.[1]];
    if (one !== undefined || other !== undefined) expect(one).to.not.equal(other);
    const answer = JSON.parse(await runCurl(command, options())) as T;
    return [answer, await runTypeScript<T>(code, options())];
  }

  async function completed(requestId: string): Promise<Shape<"Request">> {
    return web.moneta.api.client.waitFor(requestId);
  }

  it("creates the wallet of the form", async () => {
    const page = await web.open({ screen: "/wallets" });
    await page.getByRole("button", { name: "Create a wallet" }).click();
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await lastCall(page, "POST /v1/accounts");
    const [one, other] = await runBoth<Shape<"Wallet">>(page, page.getByRole("region", { name: "Your last call" }));
    expect(one.address).to.match(/^0x/).and.not.equal(other.address);
  });

  it("shows the call of a form while it is typed, for a user without a wallet, too", async () => {
    const { api } = web.moneta;
    const collection = await api.collection({ type: "ERC721", name: "Typed" });
    const page = await web.open({ screen: `/collections/${collection}/mint` });
    await page.getByText("The same call in a program").click();
    const shown = page.locator(".live-call pre");
    await page.getByLabel(/^Name/).fill("It's typed");
    await page.getByLabel(/^To/).fill("typed-ann");
    const call = () => shown.innerText();
    expect(await call())
      .to.contain('"to_user":"typed-ann"')
      .and.contain("It'\\''s typed");
    expect(await call()).to.equal(await call());
    const { request_id: first } = JSON.parse(await runCurl(await call(), options())) as Shape<"Accepted">;
    await page.getByRole("group", { name: "Language" }).getByRole("button", { name: "TypeScript" }).click();
    await page.getByLabel(/^Name/).fill("Typed again");
    const code = (await call()).replace(KEY, (_all, key: string) => `Idempotency-Key": "${key.replace(/^./, "x")}`);
    const { request_id: second } = await runTypeScript<Shape<"Accepted">>(code, options());
    for (const id of [first, second]) await completed(id);
    const { nfts } = await api.ok<Shape<"NftsPage">>("GET", `/v1/collections/${collection}`);
    expect(nfts.map(({ metadata }) => metadata?.name)).to.deep.equal(["It's typed", "Typed again"]);
    const { address } = await api.ok<Shape<"Wallet">>("GET", "/v1/accounts/user/typed-ann");
    for (const nft of nfts) expect(nft).to.include({ owner: address });
    await page.getByText("More fields").click();
    await page.getByLabel(/^Website/).fill("no link");
    await page.getByText("Correct the fields above.").waitFor();
    await expectNoAxeViolations(page);
  });

  it("uploads the picture and mints the token of the form, then transfers it", async () => {
    const { api } = web.moneta;
    const collection = await api.collection({ type: "ERC721", name: "Cats" });
    const alice = await api.wallet("copied-alice");
    const page = await web.open({ screen: `/collections/${collection}/mint` });
    await page.getByLabel(/^To/).fill("copied-alice");
    await page.getByLabel("Drop a file here, or choose one").first().setInputFiles(PICTURE);
    await page.getByText("is uploaded.").waitFor();
    await page.getByLabel(/^Name/).fill("Tom");
    await page.getByRole("button", { name: "Mint", exact: true }).click();
    await page.getByText(DONE).waitFor();
    await writeFile(join(folder.path, PICTURE.name), SVG);

    const printed = await runCurl(await copied(page, "Copy as curl"), options());
    const [, media = "", minted = ""] = /^(\{.*\})(\{.*\})$/.exec(printed)!;
    const { uri } = JSON.parse(media) as Shape<"UploadedMedia">;
    const { request_id: first } = JSON.parse(minted) as Shape<"Accepted">;
    const code = await copied(page, "Copy as TypeScript");
    expect(code).to.contain("uri1").and.not.to.contain(uri);
    const { request_id: second } = await runTypeScript<{ request_id: string }>(code, options());
    for (const [index, id] of [first, second].entries()) {
      expect(String((await completed(id)).nft_token_id)).to.equal((index + 2).toString());
      const token = await api.ok<Shape<"Erc721Nft">>("GET", `/v1/collections/${collection}/${(index + 2).toString()}`);
      expect(token.owner).to.equal(alice);
      expect(token.metadata).to.include({ name: "Tom", image: uri });
    }

    const bob = await api.wallet("copied-bob");
    await goTo(page, `/transfer/${alice}/${collection}/1`);
    await page.getByRole("combobox", { name: /^To/ }).fill("copied-bob");
    await page.getByRole("button", { name: "Transfer" }).click();
    await page.getByText(DONE).waitFor();
    const back = { contract_address: collection, token_id: "1", from_address: bob, to_address: alice };
    const moves = [
      async () => JSON.parse(await runCurl(await copied(page, "Copy as curl"), options())) as { request_id: string },
      async () => runTypeScript<{ request_id: string }>(await copied(page, "Copy as TypeScript"), options()),
    ];
    for (const move of moves) {
      await api.completed("/v1/transfers", back);
      await completed((await move()).request_id);
      const token = await api.ok<Shape<"Erc721Nft">>("GET", `/v1/collections/${collection}/1`);
      expect(token.owner).to.equal(bob);
    }
  });

  it("burns the copies of the form, and mints the rows of an imported file", async () => {
    const { api } = web.moneta;
    const wallet = await api.wallet("copied-eve");
    const collection = await api.collection({ type: "ERC1155", name: "Burning" });
    const mint = {
      collection_address: collection,
      initial_owner: wallet,
      initial_supply: 6,
      token_id: 1,
      name: "Wood",
    };
    await api.completed("/v1/nfts", mint);
    const page = await web.open({ screen: `/burn/${wallet}/${collection}/1` });
    await page.getByLabel(/^Amount/).fill("2");
    await page.getByRole("button", { name: "Burn for ever" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Burn for ever" }).click();
    await page.getByText(DONE).waitFor();
    for (const { request_id } of await runBoth<Shape<"Accepted">>(page)) await completed(request_id);
    const id = await api.ok<Shape<"Erc1155Nft">>("GET", `/v1/collections/${collection}/1`);
    expect(id.quantity).to.equal(0);

    const rows = await api.collection({ type: "ERC721", name: "Imported" });
    web.allowProblems(/404/);
    await goTo(page, `/collections/${rows}/import`);
    const buffer = Buffer.from("name,user_identifier\nIt's A,copied-eve\nB,copied-eve");
    await page.getByLabel("Files").setInputFiles({ name: "two.csv", mimeType: "text/csv", buffer });
    await page.getByRole("button", { name: "Mint 2 tokens" }).click();
    await page.getByText("2 minted, 0 failed, 0 on their way, 0 left.").waitFor();
    for (const { results } of await runBoth<{ results: Shape<"Accepted">[] }>(page))
      for (const { request_id } of results) await completed(request_id);
    const { nfts } = await api.ok<Shape<"NftsPage">>("GET", `/v1/collections/${rows}`);
    expect(nfts.map(({ metadata }) => metadata?.name)).to.deep.equal(["It's A", "B", "It's A", "B", "It's A", "B"]);
  });

  it("creates the token of the form, in a session of its own", async () => {
    const page = await web.open({ screen: "/tokens" });
    await page.getByRole("button", { name: "Create an API key" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Bill's");
    await dialog.getByLabel("read", { exact: true }).check();
    await dialog.getByRole("button", { name: "Create" }).click();
    await page.getByText(/^moneta_/).waitFor();
    await lastCall(page, "POST /v1/tokens");
    const codeOf = async () => /code=(.*)$/.exec((await web.link()).url)![1]!;
    const own = async () => ({ cwd: folder.path, env: { MONETA_CODE: await codeOf() } });
    const printed = await runCurl(await copied(page, "Copy as curl"), await own());
    const made = JSON.parse(printed.slice(printed.lastIndexOf('{"token_id"'))) as CreatedToken;
    const other = await runTypeScript<CreatedToken>(await copied(page, "Copy as TypeScript"), await own());
    for (const { name, scopes } of [made, other]) {
      expect({ name, scopes }).to.deep.equal({ name: "Bill's", scopes: ["read"] });
    }
  });

  it("reads the wallet, the token and the request of a screen", async () => {
    const { api } = web.moneta;
    const wallet = await api.wallet();
    const collection = await api.collection({ type: "ERC721", name: "Read" });
    const request = await api.completed("/v1/nfts", {
      collection_address: collection,
      to_address: wallet,
      name: "Tom",
    });
    const id = request.request_id;
    for (const [screen, path] of [
      [`/wallets/${wallet}`, `/v1/accounts/${wallet}`],
      [`/collections/${collection}/1`, `/v1/collections/${collection}/1`],
      [`/requests/${id}`, `/v1/requests/${id}`],
    ] as const) {
      const page = await web.open({ screen });
      const wanted = await api.ok<object>("GET", path);
      expect(await runBoth<object>(page)).to.deep.equal([wanted, wanted]);
    }
  });
});
