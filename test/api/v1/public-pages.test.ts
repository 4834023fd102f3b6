import { readdirSync } from "node:fs";

import { expect } from "chai";

import packageJson from "../../../package.json" with { type: "json" };
import { PUBLIC_URL, startApi } from "../support/api.ts";
import { PAGE } from "../support/console.ts";
import { expectRefusal } from "../support/expect.ts";
import { useApi } from "../support/use-api.ts";

const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

const BUILT = new URL("../../../console/built/assets", import.meta.url);

describe("pages that need no token", () => {
  const api = useApi({ per: "block" });

  describe("GET /", () => {
    it("answers programs with links as JSON", async () => {
      for (const headers of [{}, { accept: "*/*" }, { accept: "application/json" }]) {
        const answer = await api.get("/", { token: null, headers });
        expect(answer.headers.get("vary")).to.contain("Accept");
        expect(answer.body).to.deep.equal({
          name: "Moneta",
          version: packageJson.version,
          links: {
            console: `${PUBLIC_URL}/console/`,
            docs: `${PUBLIC_URL}/docs`,
            openapi: `${PUBLIC_URL}/openapi.json`,
            errors: `${PUBLIC_URL}/docs/errors`,
            health: `${PUBLIC_URL}/healthz`,
            readiness: `${PUBLIC_URL}/readyz`,
          },
        });
      }
    });

    it("answers browsers with the same links as a page, and every link leads somewhere", async () => {
      const response = await fetch(`${api.baseUrl}/`, { headers: { accept: BROWSER } });
      expect(response.headers.get("content-type")).to.equal("text/html; charset=utf-8");
      expect(response.headers.get("vary")).to.contain("Accept");
      const page = await response.text();
      const links = [...page.matchAll(/<a href="([^"]*)"/g)].map(([, link]) => link ?? "");
      expect(links).to.deep.equal(["console/", "docs", "openapi.json", "docs/errors", "healthz", "readyz"]);
      const parts = [...page.matchAll(/href="([^"]*)"/g)].map(([, part]) => part ?? "");
      for (const part of parts) expect((await fetch(new URL(part, `${api.baseUrl}/`))).status, part).to.equal(200);
    });

    it("has a strict policy and no script on its pages", async () => {
      for (const path of ["/", "/docs/errors"]) {
        const response = await fetch(api.baseUrl + path, { headers: { accept: BROWSER } });
        const directives = (response.headers.get("content-security-policy") ?? "").split("; ");
        expect(directives).to.include.members(["default-src 'none'", "style-src 'self'", "frame-ancestors 'none'"]);
        expect(directives.join("; ")).to.not.match(/unsafe|https?:|\*|script-src/);
        expect(await response.text()).to.not.match(/<script|<style|\sstyle=|\son\w+=|https?:/);
      }
    });
  });

  describe("GET /docs", () => {
    let page: string;
    let policy: string;
    before(async () => {
      const response = await fetch(`${api.baseUrl}/docs`);
      page = await response.text();
      policy = response.headers.get("content-security-policy") ?? "";
    });

    it("loads every part from this service", async () => {
      const parts = [...page.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, part]) => part ?? "");
      expect(parts).to.include("docs/swagger-ui-bundle.js").and.to.have.length(11);
      for (const part of parts) {
        const url = new URL(part, `${api.baseUrl}/docs`);
        expect(url.origin, part).to.equal(api.baseUrl);
        const response = await fetch(url);
        expect(response.status, part).to.equal(200);
        expect((await response.arrayBuffer()).byteLength, part).to.be.above(100);
      }
    });

    it("has a policy without inline scripts and other origins", () => {
      expect(page).to.not.match(/<script>|<style|\son\w+=|https?:/);
      const directives = policy.split("; ");
      expect(directives).to.include("default-src 'none'").and.to.include("script-src 'self'");
      expect(policy).to.not.match(/unsafe|https?:|\*/);
    });

    it("opens this service's document, with the viewer's online validator turned off", async () => {
      const script = await (await fetch(`${api.baseUrl}/docs/init.js`)).text();
      expect(script).to.contain('url: "openapi.json"').and.to.contain("validatorUrl: null");
    });

    it("redirects from the path with a slash, also behind a proxy that adds a prefix", async () => {
      const response = await fetch(`${api.baseUrl}/docs/`, { redirect: "manual" });
      expect([response.status, response.headers.get("location")]).to.deep.equal([308, "../docs"]);
    });

    it("serves no other file of the viewer's package", async () => {
      for (const path of [
        "/docs/package.json",
        "/docs/swagger-ui-bundle.js.map",
        "/docs/favicon-32x32.png",
        "/docs/index.html",
        "/docs/../package.json",
      ]) {
        expectRefusal(await api.get(path, { token: null }), 404, "not_found");
      }
    });
  });

  describe("/console", () => {
    const get = (path: string, init: RequestInit = {}) => fetch(api.baseUrl + path, { redirect: "manual", ...init });

    it("redirects to the folder by a relative path, so that a prefix of a proxy stays", async () => {
      const response = await get("/console");
      expect(response.status).to.equal(308);
      expect(response.headers.get("location")).to.equal("console/");
    });

    it("serves the page with a policy that allows no inline script and no script of others", async () => {
      const response = await get("/console/");
      expect(response.status).to.equal(200);
      expect(response.headers.get("content-type")).to.equal("text/html; charset=utf-8");
      expect(response.headers.get("cache-control")).to.equal("no-cache");
      const policy = response.headers.get("content-security-policy")!.split("; ");
      expect(policy).to.include.members([
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
      ]);
      expect(policy.join()).to.not.contain("unsafe");
      const page = await response.text();
      expect(page).to.not.match(/<script(?![^>]*\ssrc=)|<style|\sstyle=|\son[a-z]+=|(src|href)="(https?:|\/)/i);
    });

    it("has the command line of a local chain in the page, and nothing elsewhere", async () => {
      expect(await (await get("/console/")).text()).to.contain('<meta name="moneta-cli" content="" />');
      const local = await startApi({ localCli: `DATA_DIR='/my "<data>&$1' npm run cli --` });
      try {
        for (const path of ["/console/", "/console/index.html"]) {
          expect(await (await fetch(local.baseUrl + path)).text()).to.contain(
            `<meta name="moneta-cli" content="DATA_DIR='/my &#34;&#60;data&#62;&#38;$1' npm run cli --" />`,
          );
        }
        const { body } = await local.post("/v1/console/session", { code: "x" }, { token: null, headers: PAGE });
        expect(body)
          .to.have.property("message")
          .match(/`DATA_DIR='.*npm run cli -- console` prints a new link\.$/);
        const other = await api.post("/v1/console/session", { code: "x" }, { token: null, headers: PAGE });
        expect(other.body)
          .to.have.property("message")
          .match(/Ask the operator of this service for a new link to the console\.$/);
      } finally {
        await local.close();
      }
    });

    it("lets browsers keep the assets for good, because their names change with their content", async () => {
      const names = readdirSync(BUILT);
      expect(names).to.not.deep.equal([]);
      for (const name of names) {
        expect(name).to.match(/-[\w-]{8}\.(js|css|svg)$/);
        const response = await get(`/console/assets/${name}`);
        expect(response.status, name).to.equal(200);
        expect(response.headers.get("cache-control")).to.equal("public, max-age=31536000, immutable");
        await response.body?.cancel();
      }
    });

    it("answers 404 to an unknown file and to paths outside of its folder", async () => {
      for (const path of ["/console/none.js", "/console/main.tsx", "/console/..%2ftsconfig.json", "/console/assets"]) {
        const response = await get(path);
        expect(response.status, path).to.equal(404);
        expect(await response.json()).to.include({ error_code: "not_found" });
      }
    });

    it("answers 405 to everything but GET and HEAD", async () => {
      for (const path of ["/console", "/console/", "/console/assets/none.js"]) {
        for (const method of ["POST", "PUT", "DELETE"]) {
          const response = await get(path, { method });
          expect(response.status, `${method} ${path}`).to.equal(405);
          expect(response.headers.get("allow")).to.equal("GET, HEAD");
        }
      }
      expect((await get("/console/", { method: "HEAD" })).status).to.equal(200);
    });
  });
});
