import { createServer } from "node:http";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { listenOnLoopback } from "../../scripts/scene/loopback.ts";
import { useFolder } from "../support/use-folder.ts";
import { copied, expectNoAxeViolations, goTo, lastCall, useConsole } from "./support/browser.ts";
import { runCurl, runTypeScript } from "./support/run-copied.ts";
const DONE = "Done. It is on the chain.";
const SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><rect width="8" height="8" fill="red"/></svg>';
const PICTURE = { name: "a cat's.svg", mimeType: "image/svg+xml", buffer: Buffer.from(SVG) };
const KEY = /Idempotency-Key"?: ?"?([0-9a-f]{32})/;
describe("what the console copies, when it runs", () => {
    const web = useConsole();
    const folder = useFolder();
    const options = () => ({ cwd: folder.path, env: { MONETA_TOKEN: web.moneta.app.token } });
    /** Presses both buttons, and runs what they copy. @returns the answers of the service */
    async function runBoth(page, part = page) {
        const command = await copied(page, "Copy as curl", part);
        const code = await copied(page, "Copy as TypeScript", part);
        const [one, other] = [KEY.exec(command)?.[1], KEY.exec(code)?.[1]];
        if (one !== undefined || other !== undefined)
            expect(one).to.not.equal(other);
        const answer = JSON.parse(await runCurl(command, options()));
        return [answer, await runTypeScript(code, options())];
    }
    async function completed(requestId) {
        return web.moneta.api.client.waitFor(requestId);
    }
    it("creates the wallet of the form", async () => {
        const page = await web.open({ screen: "/wallets" });
        await page.getByRole("button", { name: "Create a wallet" }).click();
        await page.getByRole("button", { name: "Create", exact: true }).click();
        await lastCall(page, "POST /v1/accounts");
        const [one, other] = await runBoth(page, page.getByRole("region", { name: "Your last call" }));
        expect(one.address).to.match(/^0x/).and.not.equal(other.address);
    });
    it("creates the collection of the form", async () => {
        const page = await web.open({ screen: "/collections/new" });
        await page.getByLabel(/^Name/).fill("It's $(a) collection");
        await page.getByLabel(/^Symbol/).fill("CATS");
        await page.getByRole("button", { name: "Create the collection" }).click();
        await page.getByText(DONE).waitFor();
        for (const { request_id } of await runBoth(page)) {
            const { nft_collection: address } = await completed(request_id);
            const { collections } = await web.moneta.api.ok("GET", "/v1/collections");
            const made = collections.find((one) => one.address === address);
            expect(made).to.include({ name: "It's $(a) collection", symbol: "CATS", type: "ERC721" });
        }
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
        const { request_id: first } = JSON.parse(await runCurl(await call(), options()));
        await page.getByRole("group", { name: "Language" }).getByRole("button", { name: "TypeScript" }).click();
        await page.getByLabel(/^Name/).fill("Typed again");
        const code = (await call()).replace(KEY, (_all, key) => `Idempotency-Key": "${key.replace(/^./, "x")}`);
        const { request_id: second } = await runTypeScript(code, options());
        for (const id of [first, second])
            await completed(id);
        const { nfts } = await api.ok("GET", `/v1/collections/${collection}`);
        expect(nfts.map(({ metadata }) => metadata?.name)).to.deep.equal(["It's typed", "Typed again"]);
        const { address } = await api.ok("GET", "/v1/accounts/user/typed-ann");
        for (const nft of nfts)
            expect(nft).to.include({ owner: address });
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
        const [, media = "", minted = ""] = /^(\{.*\})(\{.*\})$/.exec(printed);
        const { uri } = JSON.parse(media);
        const { request_id: first } = JSON.parse(minted);
        const code = await copied(page, "Copy as TypeScript");
        expect(code).to.contain("uri1").and.not.to.contain(uri);
        const { request_id: second } = await runTypeScript(code, options());
        for (const [index, id] of [first, second].entries()) {
            expect(String((await completed(id)).nft_token_id)).to.equal((index + 2).toString());
            const token = await api.ok("GET", `/v1/collections/${collection}/${(index + 2).toString()}`);
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
            async () => JSON.parse(await runCurl(await copied(page, "Copy as curl"), options())),
            async () => runTypeScript(await copied(page, "Copy as TypeScript"), options()),
        ];
        for (const move of moves) {
            await api.completed("/v1/transfers", back);
            await completed((await move()).request_id);
            const token = await api.ok("GET", `/v1/collections/${collection}/1`);
            expect(token.owner).to.equal(bob);
        }
    });
    it("changes the collection and the token of the forms, and freezes", async () => {
        const { api } = web.moneta;
        const wallet = await api.wallet();
        const collection = await api.collection({ type: "ERC721", name: "Changing" });
        await api.completed("/v1/nfts", { collection_address: collection, to_address: wallet, name: "Tom" });
        const page = await web.open({ screen: `/collections/${collection}/change` });
        const changes = async (path, read) => {
            await page.getByLabel(/^Description/).fill("It's $(b) better");
            await page.getByRole("button", { name: "Save" }).click();
            await page.getByRole("button", { name: "Copy as curl" }).waitFor();
            const curl = await copied(page, "Copy as curl");
            const code = await copied(page, "Copy as TypeScript");
            for (const run of [
                async () => JSON.parse(await runCurl(curl, options())),
                async () => runTypeScript(code, options()),
            ]) {
                await completed((await api.ok("PATCH", path, { description: "Worse" })).request_id ?? "");
                await completed((await run()).request_id ?? "");
                expect(await read()).to.equal("It's $(b) better");
            }
        };
        const path = `/v1/collections/${collection}`;
        const record = async (address) => {
            const { collections } = await api.ok("GET", "/v1/collections?limit=30");
            return collections.find((one) => one.address === address);
        };
        await changes(path, async () => (await record(collection))?.description ?? null);
        await goTo(page, `/collections/${collection}/1/change`);
        await changes(`${path}/1`, async () => {
            const { metadata } = await api.ok("GET", `${path}/1`);
            return metadata?.description ?? null;
        });
        await goTo(page, `/collections/${collection}/freeze`);
        await page.getByRole("textbox").fill("Changing");
        await page.getByRole("button", { name: "Freeze for ever" }).click();
        await page.getByText(DONE).waitFor();
        // What is copied names the frozen collection, so the service refuses it with the reason. Another one can be frozen by it.
        const command = await copied(page, "Copy as curl");
        expect(await runCurl(command, options())).to.contain('"error_code":"metadata_frozen"');
        const code = await copied(page, "Copy as TypeScript");
        for (const run of [
            async (own) => JSON.parse(await runCurl(command.replaceAll(collection, own), options())),
            async (own) => runTypeScript(code.replaceAll(collection, own), options()),
        ]) {
            const other = await api.collection({ type: "ERC721", name: "Another" });
            await completed((await run(other)).request_id);
            expect((await record(other))?.metadata_frozen).to.equal("yes");
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
        for (const { request_id } of await runBoth(page))
            await completed(request_id);
        const id = await api.ok("GET", `/v1/collections/${collection}/1`);
        expect(id.quantity).to.equal(0);
        const rows = await api.collection({ type: "ERC721", name: "Imported" });
        web.allowProblems(/404/);
        await goTo(page, `/collections/${rows}/import`);
        const buffer = Buffer.from("name,user_identifier\nIt's A,copied-eve\nB,copied-eve");
        await page.getByLabel("Files").setInputFiles({ name: "two.csv", mimeType: "text/csv", buffer });
        await page.getByRole("button", { name: "Mint 2 tokens" }).click();
        await page.getByText("2 minted, 0 failed, 0 on their way, 0 left.").waitFor();
        for (const { results } of await runBoth(page))
            for (const { request_id } of results)
                await completed(request_id);
        const { nfts } = await api.ok("GET", `/v1/collections/${rows}`);
        expect(nfts.map(({ metadata }) => metadata?.name)).to.deep.equal(["It's A", "B", "It's A", "B", "It's A", "B"]);
    });
    it("registers the webhook of the form", async () => {
        web.allowProblems(/404/);
        const receiver = await listenOnLoopback(createServer((_request, response) => response.end()));
        try {
            const page = await web.open({ screen: "/webhook" });
            await page.getByLabel("URL").fill(`${receiver.url}/?a='b'`);
            await page.getByLabel(/^Sent/).uncheck();
            await page.getByRole("button", { name: "Save the webhook" }).click();
            await page.getByRole("button", { name: "I have stored it" }).click();
            for (const answer of await runBoth(page)) {
                expect(answer.url).to.equal(`${receiver.url}/?a='b'`);
                expect(answer.events).to.deep.equal(["completed", "error", "corrected"]);
            }
            await web.moneta.api.ok("DELETE", "/v1/webhook");
        }
        finally {
            await receiver.stop();
        }
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
        const codeOf = async () => /code=(.*)$/.exec((await web.link()).url)[1];
        const own = async () => ({ cwd: folder.path, env: { MONETA_CODE: await codeOf() } });
        const printed = await runCurl(await copied(page, "Copy as curl"), await own());
        const made = JSON.parse(printed.slice(printed.lastIndexOf('{"token_id"')));
        const other = await runTypeScript(await copied(page, "Copy as TypeScript"), await own());
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
        ]) {
            const page = await web.open({ screen });
            const wanted = await api.ok("GET", path);
            expect(await runBoth(page)).to.deep.equal([wanted, wanted]);
        }
    });
});
