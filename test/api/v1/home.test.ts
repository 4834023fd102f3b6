import { expect } from "chai";

import packageJson from "../../../package.json" with { type: "json" };
import { PUBLIC_URL } from "../support/api.ts";
import { useApi } from "../support/use-api.ts";
import { expectRefusal } from "../support/expect.ts";

const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

describe("GET /", () => {
  const api = useApi();

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

  it("supports only GET and HEAD", async () => {
    const answer = await api.call("POST", "/", { token: null });
    expectRefusal(answer, 405, "method_not_allowed");
    expect(answer.headers.get("allow")).to.equal("GET, HEAD");
  });
});
