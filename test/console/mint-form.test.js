import { expect } from "chai";
import { waitUntil } from "../../scripts/console/wait-until.ts";
import { eventually } from "../support/eventually.ts";
import { expectNoAxeViolations, goTo, useConsole } from "./support/browser.ts";
import { PNG } from "../support/pictures.ts";
const PICTURE = {
    name: "cat.svg",
    mimeType: "image/svg+xml",
    buffer: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><script>top.hacked = 1</script><rect width="8" height="8" fill="red"/></svg>'),
};
const DONE = "Done. It is on the chain.";
describe("the form that mints a token", () => {
    const console = useConsole();
    let collection;
    before(async () => {
        const { api } = console.moneta;
        await api.wallet("alice");
        collection = await api.collection({ type: "ERC721", name: "<img src=x onerror=alert(1)> Cats" });
    });
    function open(options = {}) {
        return console.open({ screen: `/collections/${collection}/mint`, ...options });
    }
    async function namesOfTokens() {
        const page = await console.moneta.api.ok("GET", `/v1/collections/${collection}`);
        return page.nfts.map(({ metadata }) => metadata?.name);
    }
    it("mints with a picture and a preview, and shows the request until it is final", async () => {
        const page = await open();
        await page.getByLabel(/^To/).fill("alice");
        await page.getByLabel("Drop a file here, or choose one").first().setInputFiles(PICTURE);
        await page.getByText("cat.svg is uploaded.").waitFor();
        await page.getByLabel(/^Name/).fill("Tom <script>hacked = 1</script>");
        const preview = page.getByRole("complementary", { name: "Preview" });
        await preview.getByText("Tom <script>").waitFor();
        expect(await preview.locator("img").getAttribute("src")).to.match(/^blob:/);
        expect(await page.getByRole("img", { name: "Preview of the picture" }).getAttribute("src")).to.match(/^blob:/);
        await expectNoAxeViolations(page);
        await page.getByRole("button", { name: "Mint", exact: true }).click();
        await page.getByText(DONE).waitFor();
        await expectNoAxeViolations(page);
        await page.getByRole("button", { name: "Copy as curl" }).waitFor();
        expect(await namesOfTokens()).to.include("Tom <script>hacked = 1</script>");
        expect(await page.evaluate("typeof hacked")).to.equal("undefined");
    });
    it("previews the picture of an address, on this computer or on IPFS, in every form", async () => {
        const token = await console.moneta.api.completed("/v1/nfts", {
            collection_address: collection,
            to_address: await console.moneta.api.wallet(),
            name: "Changed",
        });
        const screens = ["/collections/new", `/collections/${collection}/change`, `/collections/${collection}/mint`];
        screens.push(`/collections/${collection}/${String(token.nft_token_id)}/change`);
        const { uri } = await console.moneta.api.client.uploadMedia(new Blob([PNG], { type: "image/png" }));
        const data = `data:image/png;base64,${PNG.toString("base64")}`;
        // Without the scope for uploads only an address can be given.
        for (const scopes of [undefined, ["read", "mint", "collections"]]) {
            const page = await console.open(scopes === undefined ? {} : { scopes });
            for (const screen of screens) {
                await goTo(page, screen);
                const picture = page.getByRole("group", { name: /^Picture/ });
                await picture.waitFor();
                expect(await picture.locator('input[type="file"]').count()).to.equal(scopes === undefined ? 1 : 0);
                for (const address of [uri, data]) {
                    await picture.getByRole("textbox").fill(address);
                    const shown = picture.getByRole("img", { name: "Preview of the picture" });
                    await shown.waitFor();
                    const source = address === uri ? new RegExp(`/ipfs/${uri.replace("ipfs://", "")}$`) : /^data:/;
                    await eventually(async () => (source.test((await shown.getAttribute("src")) ?? "") ? true : undefined));
                }
                await picture.getByRole("textbox").fill("data:image/png;base64,broken");
                await picture.getByText("The browser can load no picture from there.").waitFor();
                await picture.getByRole("textbox").fill("javascript:alert(1)");
                await picture.getByText("The browser can load no picture from there.").waitFor({ state: "detached" });
                expect(await picture.locator("img").count()).to.equal(0);
                await expectNoAxeViolations(page);
            }
        }
    });
    it("works with the keyboard alone", async () => {
        const page = await open();
        const press = async (...keys) => {
            for (const key of keys)
                await page.keyboard.press(key);
        };
        await page.getByLabel(/^To/).waitFor();
        await page.locator("#main h1").focus();
        const focused = () => page.evaluate("document.activeElement.labels?.[0]?.textContent ?? document.activeElement.textContent");
        const tabTo = async (text) => {
            for (let tabs = 0; tabs < 40; tabs++) {
                await press("Tab");
                if (text.test(await focused()))
                    return;
            }
            throw new Error(`Tab never reaches ${text.source}`);
        };
        await tabTo(/^To/);
        await page.keyboard.type("alice");
        await tabTo(/^Name/);
        await page.keyboard.type("Typed");
        await tabTo(/^Add an attribute/);
        await press("Enter");
        await page.getByLabel("Trait of attribute 1").waitFor();
        await press("Shift+Tab", "Shift+Tab", "Shift+Tab");
        await page.keyboard.type("fur");
        await press("Tab");
        await page.keyboard.type("red");
        await press("Enter");
        await page.getByText(DONE).waitFor();
        await waitUntil(page, "document.activeElement.textContent === 'Your new token'");
        expect(await namesOfTokens()).to.include("Typed");
    });
    it("shows each error at its field, and moves the focus to the first", async () => {
        const page = await open();
        await page.getByRole("button", { name: "Mint", exact: true }).click();
        await page.getByText("This field is required.").waitFor();
        await page.getByLabel(/^To/).fill("nobody");
        await page.getByRole("button", { name: "Mint", exact: true }).click();
        await page.getByText("No wallet of the app has this user identifier.").waitFor();
        await waitUntil(page, "document.activeElement.value === 'nobody'");
        expect(await page.getByLabel(/^To/).getAttribute("aria-invalid")).to.equal("true");
        await expectNoAxeViolations(page);
        // An error is about the text that was sent. It goes as soon as the text is another one, and the focus stays.
        await page.getByLabel(/^To/).pressSequentially("2");
        await page.getByText("No wallet of the app has this user identifier.").waitFor({ state: "detached" });
        await waitUntil(page, "document.activeElement.value === 'nobody2'");
        // The checksum is wrong, which only the service finds.
        await page.getByLabel(/^To/).fill("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD".replace("aA", "Aa"));
        console.allowProblems(/404|422/);
        await page.getByRole("button", { name: "Mint", exact: true }).click();
        await page.getByText("The EIP-55 checksum is wrong.").waitFor();
        expect(await page.getByLabel(/^To/).getAttribute("aria-invalid")).to.equal("true");
    });
    it("mints once after a double click and a lost answer", async () => {
        const page = await open();
        const keys = [];
        await page.route("**/v1/nfts", async (route) => {
            keys.push(route.request().headers()["idempotency-key"]);
            const response = await route.fetch();
            // The client itself tries three times.
            if (keys.length <= 3)
                await route.abort("connectionreset");
            else
                await route.fulfill({ response });
        });
        console.allowProblems(/ERR_CONNECTION_RESET/);
        await page.getByLabel(/^To/).fill("alice");
        await page.getByLabel(/^Name/).fill("Once");
        await page.getByRole("button", { name: "Mint", exact: true }).dblclick();
        await page.getByText("It is not certain whether the service took the call.").waitFor();
        expect(await page.getByLabel(/^Name/).isDisabled()).to.equal(true);
        await page.getByRole("button", { name: "Send it again" }).click();
        await page.getByText(DONE).waitFor();
        expect(keys).to.have.lengthOf(4);
        expect(new Set(keys).size).to.equal(1);
        expect((await namesOfTokens()).filter((name) => name === "Once")).to.have.lengthOf(1);
    });
    it("is not offered without its scope, and takes no file without the scope for media", async () => {
        const reader = await open({ scopes: ["read"] });
        await reader.getByText("This session may not mint tokens").waitFor();
        expect(await reader.getByRole("button", { name: "Mint", exact: true }).count()).to.equal(0);
        const minter = await open({ scopes: ["read", "mint"] });
        await minter
            .getByRole("group", { name: /^Picture/ })
            .getByLabel("URI")
            .waitFor();
        expect(await minter.getByLabel("Drop a file here, or choose one").count()).to.equal(0);
    });
});
