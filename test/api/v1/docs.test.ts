import { expect } from "chai";

import { useApi } from "../support/use-api.ts";
import { expectRefusal } from "../support/expect.ts";

describe("GET /docs", () => {
  const api = useApi();
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

  it("supports only GET and HEAD", async () => {
    expectRefusal(await api.call("POST", "/docs", { token: null }), 405, "method_not_allowed");
    expectRefusal(await api.call("DELETE", "/openapi.json"), 405, "method_not_allowed");
  });
});
