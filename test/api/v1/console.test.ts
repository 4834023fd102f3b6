import { readdirSync } from "node:fs";

import { expect } from "chai";

import { PAGE } from "../support/console.ts";
import { startApi } from "../support/api.ts";
import { useApi } from "../support/use-api.ts";

const BUILT = new URL("../../../console/built/assets", import.meta.url);

describe("/console", () => {
  const api = useApi();

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
