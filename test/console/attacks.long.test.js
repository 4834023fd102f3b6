import { expect } from "chai";
import { createApp } from "../../api/operate/apps.ts";
import { goTo, useConsole } from "./support/browser.ts";
/** Each would run in one place or another if a text became markup or the address of a link. */
const SCRIPTS = [
    `"><img src=x onerror="window.ran='img'">`,
    `<svg onload="window.ran='svg'"><script>window.ran='script'</script></svg>`,
    `'><iframe srcdoc="<script>parent.ran='frame'</script>"></iframe>`,
    `javascript:window.ran='link'`,
];
const HOSTILE = SCRIPTS.join(" ");
const SVG = `<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8" onload="parent.ran='svg'"><script>parent.ran='svg';fetch('/v1/usage')</script><rect width="8" height="8"/></svg>`;
const SVG_URI = `data:image/svg+xml;base64,${Buffer.from(SVG).toString("base64")}`;
describe("console: attacks by what apps store", () => {
    const pages = useConsole();
    const { moneta } = pages;
    let collection;
    let wallet;
    let request;
    before("store hostile texts and pictures", async () => {
        const { api } = moneta;
        wallet = await api.wallet(HOSTILE);
        collection = await api.collection({
            type: "ERC721",
            name: HOSTILE,
            symbol: `<b>"'`,
            description: HOSTILE,
            image: SVG_URI,
            external_link: "https://evil.example/?<script>",
        });
        request = await api.accept("/v1/nfts", {
            collection_address: collection,
            to_address: wallet,
            name: HOSTILE,
            description: HOSTILE,
            image: SVG_URI,
            animation_url: SVG_URI,
            copy_media: true,
            external_url: "https://evil.example/?<script>",
            attributes: [{ trait_type: HOSTILE, value: HOSTILE }, HOSTILE, { trait_type: { a: HOSTILE }, value: [HOSTILE] }],
            unlockable_content: HOSTILE,
        });
        await api.client.waitFor(request);
    });
    /** No script ran, nothing of a text became an element, and each link leads to a web page or a screen. */
    async function expectHarmless(page) {
        expect(await page.evaluate("window.ran ?? null")).to.equal(null);
        const strange = "#console :is(script, iframe, object, embed, base, [srcdoc], [onerror], [onload]), #console img[src='x']";
        expect(await page.locator(strange).count()).to.equal(0);
        const links = await page.evaluate("[...document.links].map(({ href }) => new URL(href).protocol)");
        expect(links.filter((protocol) => !["http:", "https:"].includes(protocol))).to.deep.equal([]);
        const opened = await page.evaluate("[...document.querySelectorAll('a[target=_blank]')].map(({ relList }) => relList.contains('noreferrer') || relList.contains('noopener')).filter((safe) => !safe)");
        expect(opened).to.deep.equal([]);
    }
    const SCREENS = [
        ["collections", () => "/", ".tile-name"],
        ["a collection", () => `/collections/${collection}`, ".tile-name"],
        ["a token", () => `/collections/${collection}/1`, "pre"],
        ["wallets", () => "/wallets", "td bdi"],
        ["a wallet", () => `/wallets/${wallet}`, ".tile-name"],
        ["requests", () => "/requests", "td"],
        ["a request", () => `/requests/${request}`, ".facts"],
        ["tokens", () => "/tokens", "td"],
        ["minting", () => `/collections/${collection}/mint`, "form"],
        ["an import", () => `/collections/${collection}/import`, "h1"],
        ["a change of a collection", () => `/collections/${collection}/change`, "form"],
        ["a change of a token", () => `/collections/${collection}/1/change`, "form"],
        ["freezing", () => `/collections/${collection}/freeze`, "form, .note, .card"],
        ["a transfer", () => `/transfer/${wallet}/${collection}/1`, "form"],
    ];
    for (const [name, screen, shown] of SCREENS) {
        it(`run no script on the screen of ${name}`, async () => {
            const page = await pages.open({ screen: screen() });
            await page.locator(shown).first().waitFor();
            await expectHarmless(page);
        });
    }
    it("show hostile names as text", async () => {
        const page = await pages.open();
        expect(await page.locator(".tile-name").first().textContent()).to.equal(HOSTILE);
    });
    it("run no script when a video or sound is played", async () => {
        pages.allowProblems(/./);
        const page = await pages.open({ screen: `/collections/${collection}/1` });
        await page.getByRole("button", { name: "Play the video or sound" }).click();
        await page.getByText("The browser cannot play this file.").waitFor();
        await expectHarmless(page);
    });
    it("run no script in unlockable content", async () => {
        const page = await pages.open({ screen: `/wallets/${wallet}` });
        await page.getByRole("button", { name: /unlockable content/ }).click();
        await page.locator("pre").waitFor();
        expect(await page.locator("pre").textContent()).to.equal(HOSTILE);
        await expectHarmless(page);
    });
    it("run no script in the name of an app", async () => {
        await createApp(moneta.service, SCRIPTS[0] ?? "");
        const page = await pages.open({ operator: true, screen: "/operator/apps" });
        await page
            .getByText(SCRIPTS[0] ?? "")
            .first()
            .waitFor();
        await expectHarmless(page);
        await goTo(page, "/");
        await page.getByRole("button", { name: SCRIPTS[0] ?? "" }).click();
        await page.locator(".session-app bdi").waitFor();
        await expectHarmless(page);
    });
    it("run no script from the address of the page", async () => {
        pages.allowProblems(/./);
        const page = await pages.open();
        for (const path of [
            ...SCRIPTS.map((text) => `/collections/${encodeURIComponent(text)}`),
            "/wallets/..",
            "/requests/..",
            "/collections/../..",
        ]) {
            await goTo(page, path);
            await page.getByRole("alert").or(page.getByText("There is no page")).first().waitFor();
            await expectHarmless(page);
        }
    });
});
