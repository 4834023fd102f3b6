import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

import express, { type RequestHandler, Router } from "express";

import type { HttpDeps } from "../deps.ts";
import { refuseMethod } from "../errors.ts";
import { sendErrorsPage } from "./errors-page.ts";
import { pagePolicy } from "./html.ts";

const SWAGGER_UI = dirname(fileURLToPath(import.meta.resolve("swagger-ui-dist/package.json")));
/** The files of the package that the page needs. */
const SWAGGER_UI_FILES = ["/swagger-ui-bundle.js", "/swagger-ui.css"];

const DOCS_FILES = { root: import.meta.dirname };
const FILES = [
  ["/docs/init.js", "docs-init.js"],
  ["/docs/page.css", "html.css"],
  ["/docs/docs.css", "docs.css"],
  ["/docs/icon.svg", "icon.svg"],
  // Browsers ask for it where a page does not name an icon, as with JSON.
  ["/favicon.ico", "icon.svg"],
] as const;

/** The page loads everything from this service and nothing from elsewhere. The style sheet holds its pictures as data. */
const PAGE_POLICY = pagePolicy("script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self'");

/** `/openapi.json`: the document. `/docs`: the same as a page to read and try out. `/docs/errors`: the error codes. */
export function docs(deps: HttpDeps): Router {
  const router = Router();
  let text: Buffer | null = null;
  router.get("/openapi.json", async (_request, response) => {
    // Made at the first call, with code that nothing else needs. It never changes while the process lives, and all answers share it.
    const { apiDocument } = await import("../openapi/document.ts");
    text ??= Buffer.from(JSON.stringify(apiDocument(deps.settings)));
    response
      .set("Access-Control-Allow-Origin", "*")
      .set("Cross-Origin-Resource-Policy", "cross-origin")
      .set("Cache-Control", "no-cache")
      .set("Content-Type", "application/json; charset=utf-8")
      .send(text);
  });
  router.get("/docs", (request, response) => {
    // The links in the page are relative, so that it works behind a proxy that adds a prefix.
    if (request.path.endsWith("/")) response.status(308).set("Location", "../docs").end();
    else response.set("Content-Security-Policy", PAGE_POLICY).sendFile("docs.html", DOCS_FILES);
  });
  for (const [path, file] of FILES) {
    router.get(path, (_request, response) => {
      response.sendFile(file, DOCS_FILES);
    });
  }
  router.get("/docs/errors", (request, response) => {
    if (request.path.endsWith("/")) response.status(308).set("Location", "../errors").end();
    else sendErrorsPage(response);
  });
  router.all(["/openapi.json", "/docs", "/docs/errors"], (_request, response) => {
    refuseMethod(response, "GET, HEAD");
  });
  router.use("/docs", only(SWAGGER_UI_FILES), express.static(SWAGGER_UI, { index: false }));
  return router;
}

/** Passes every other path on to the next router. */
function only(paths: readonly string[]): RequestHandler {
  return (request, _response, next) => {
    if (paths.includes(request.path)) next();
    else next("router");
  };
}
