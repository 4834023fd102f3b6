import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

import express, { type RequestHandler, Router } from "express";

import { ApiError } from "../../domain/error-codes.ts";
import type { HttpDeps } from "../deps.ts";
import { apiDocument } from "../openapi/document.ts";

const SWAGGER_UI = dirname(fileURLToPath(import.meta.resolve("swagger-ui-dist/package.json")));
/** Of the whole package the page needs these. */
const SWAGGER_UI_FILES = ["/swagger-ui-bundle.js", "/swagger-ui.css", "/favicon-32x32.png"];

const PAGE_FILES = { root: import.meta.dirname };

/** Everything comes from this service: nothing is asked of any other. Pictures are in the style sheet, as data. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** `/openapi.json`: the document. `/docs`: the same as a page to read and try out. */
export function docs(deps: Pick<HttpDeps, "settings">): Router {
  const router = Router();
  let text: string | null = null;
  router.get("/openapi.json", (_request, response) => {
    // Made when somebody asks for the first time: it is the same as long as the process lives.
    text ??= JSON.stringify(apiDocument(deps.settings));
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
    else response.set("Content-Security-Policy", PAGE_POLICY).sendFile("index.html", PAGE_FILES);
  });
  router.get("/docs/init.js", (_request, response) => {
    response.sendFile("init.js", PAGE_FILES);
  });
  router.all(["/openapi.json", "/docs"], (_request, response) => {
    response.set("Allow", "GET, HEAD");
    throw new ApiError("method_not_allowed");
  });
  router.use("/docs", only(SWAGGER_UI_FILES), express.static(SWAGGER_UI, { index: false }));
  return router;
}

/** Leaves every other path to what comes after this router. */
function only(paths: readonly string[]): RequestHandler {
  return (request, _response, next) => {
    if (paths.includes(request.path)) next();
    else next("router");
  };
}
