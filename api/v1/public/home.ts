import { Router } from "express";

import packageJson from "../../../package.json" with { type: "json" };
import type { HttpDeps } from "../deps.ts";
import { refuseMethod } from "../errors.ts";
import { escapeHtml, sendHtml } from "./html.ts";

/** The links of `/`: a name for programs, a path without the leading slash, and a title with a text for people. */
const LINKS = [
  ["console", "console/", "Console", "Collections, tokens, requests and settings, as pages"],
  ["docs", "docs", "API documentation", "Every call, to read and to try out"],
  ["openapi", "openapi.json", "OpenAPI document", "For tools and code generators"],
  ["errors", "docs/errors", "Error codes", "What each means"],
  ["health", "healthz", "Health", "Whether the process runs"],
  ["readiness", "readyz", "Readiness", "Whether the service can do its work"],
] as const;

const NAME = "Moneta";

/** `/`: links to the service's pages, as HTML for browsers and as JSON for programs. */
export function home(deps: HttpDeps): Router {
  const router = Router();
  router.get("/", (request, response) => {
    response.vary("Accept");
    // The first one is for callers that accept anything.
    if (request.accepts(["json", "html"]) === "html") {
      const items = LINKS.map(
        ([, path, title, words]) =>
          `      <li><a href="${path}"><strong>${escapeHtml(title)}</strong> <span>${escapeHtml(words)}</span></a></li>`,
      );
      const version = `    <p class="muted">Version ${packageJson.version}. NFT back end: wallets, collections, mints and gasless transfers.</p>`;
      sendHtml(response, {
        title: NAME,
        root: "",
        body: [version, '    <ul class="links">', ...items, "    </ul>"].join("\n"),
      });
      return;
    }
    const links = LINKS.map(([name, path]) => [name, `${deps.settings.publicUrl}/${path}`]);
    response
      .set("Cache-Control", "no-cache")
      .json({ name: NAME, version: packageJson.version, links: Object.fromEntries(links) as Record<string, string> });
  });
  router.all("/", (_request, response) => {
    refuseMethod(response, "GET, HEAD");
  });
  return router;
}
