import { expect } from "chai";
import { useConsole } from "./support/browser.ts";
const SCRIPT = "window.ran = true; self.ran = true; fetch('/v1/console/session', { headers: { 'X-Moneta-Console': '1' } });";
/** Files that an app may store, which would run as a script or as a page if the service answered them as such. */
const FILES = {
    html: `<!doctype html><title>stored</title><script>${SCRIPT}</script><img src=x onerror="window.ran=true">`,
    svg: `<svg xmlns="http://www.w3.org/2000/svg" onload="window.ran=true"><script>${SCRIPT}</script></svg>`,
    xhtml: `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><body><script>${SCRIPT}</script></body></html>`,
    xslt: `<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="#"?><a><script xmlns="http://www.w3.org/1999/xhtml">${SCRIPT}</script></a>`,
    script: SCRIPT,
    json: `{"openapi":"3.0.0","info":{"title":"stored document","description":"<img src=x onerror='window.ran=true'>","version":"1"},"paths":{}}`,
    css: "body { background: rgb(1, 2, 3) !important }",
};
describe("console: attacks by stored files", () => {
    const pages = useConsole();
    const { moneta } = pages;
    const paths = {};
    before("store the files", async () => {
        for (const [name, body] of Object.entries(FILES)) {
            const answer = await fetch(`${moneta.baseUrl}/v1/media`, {
                method: "POST",
                // The service believes no claim that the file is a script. It refuses a picture that claims to be something else.
                headers: {
                    authorization: `Bearer ${moneta.app.token}`,
                    "content-type": name === "svg" ? "image/svg+xml" : "text/javascript",
                },
                body,
            });
            paths[name] = `/ipfs/${(await answer.json()).cid}`;
        }
    });
    for (const name of Object.keys(FILES)) {
        it(`answers ${name} as no script, and in a sandbox`, async () => {
            const answer = await fetch(moneta.baseUrl + (paths[name] ?? ""));
            expect(answer.status).to.equal(200);
            expect(answer.headers.get("content-type")).to.not.match(/javascript|ecmascript|text\/css/);
            expect(answer.headers.get("x-content-type-options")).to.equal("nosniff");
            expect(answer.headers.get("content-security-policy")).to.match(/^default-src 'none';.*; sandbox$/);
            await answer.body?.cancel();
        });
        it(`runs no script when a signed-in person opens ${name}`, async () => {
            pages.allowProblems(/./);
            const page = await pages.open();
            const download = page.waitForEvent("download");
            // It rejects when the page is closed without a download.
            download.catch(() => undefined);
            const shown = await page.goto(moneta.baseUrl + (paths[name] ?? "")).then(() => true, (error) => {
                // A file that is no plain picture or text is downloaded instead of shown.
                expect(String(error)).to.match(/Download is starting|ERR_ABORTED/);
                return false;
            });
            if (!shown)
                await download;
            expect(await page.evaluate("window.ran ?? null")).to.equal(null);
        });
    }
    for (const place of ["/console/", "/docs"]) {
        it(`is no script, module, worker or style sheet of ${place}`, async () => {
            pages.allowProblems(/./);
            const page = await pages.browser.open(moneta.baseUrl + place);
            for (const [name, path] of Object.entries(paths)) {
                const loaded = await page.evaluate(`(async () => {
          const url = ${JSON.stringify(path)};
          const add = (tag, values) => new Promise((resolve) => {
            const element = Object.assign(document.createElement(tag), values);
            element.onload = () => resolve(tag); element.onerror = () => resolve(null);
            document.head.append(element);
          });
          const worker = new Promise((resolve) => {
            try { const one = new Worker(url); one.onerror = () => resolve(null); one.onmessage = () => resolve("worker"); setTimeout(() => resolve(null), 300); }
            catch { resolve(null); }
          });
          return (await Promise.all([
            add("script", { src: url }),
            add("script", { src: url, type: "module" }),
            add("link", { rel: "stylesheet", href: url }),
            import(url).then(() => "import", () => null),
            navigator.serviceWorker.register(url, { scope: "/ipfs/" }).then(() => "service worker", () => null),
            worker,
          ])).filter((one) => one !== null);
        })()`);
                expect(loaded, name).to.deep.equal([]);
            }
            expect(await page.evaluate("window.ran ?? null")).to.equal(null);
        });
    }
    it("is no document of the page /docs that its address chooses", async () => {
        pages.allowProblems(/./);
        const path = encodeURIComponent(paths["json"] ?? "");
        const page = await pages.browser.open(`${moneta.baseUrl}/docs?url=${path}&configUrl=${path}&urls=${path}`);
        await page
            .getByRole("heading", { name: /Moneta/ })
            .first()
            .waitFor();
        expect(await page.getByText("stored document").count()).to.equal(0);
        expect(await page.evaluate("window.ran ?? null")).to.equal(null);
    });
});
