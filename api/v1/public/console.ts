import { fileURLToPath } from "node:url";

import express, { type Response, Router } from "express";

import { ApiError } from "../../domain/error-codes.ts";

const BUILT = fileURLToPath(new URL("../../../console/built", import.meta.url));

/**
 * Scripts and styles come from this service alone. Pictures and videos may be anywhere: tokens name them. As pictures, SVG
 * files run no script. The console sets styles only through the DOM, so it needs no inline styles.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' https: data: blob:",
  "media-src 'self' https: data: blob:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** `/console/`: the web page of the service. `npm run console:update` builds its files. */
export function consolePages(): Router {
  const router = Router();
  router.use("/console", (request, response, next) => {
    if (request.method !== "GET" && request.method !== "HEAD") {
      response.set("Allow", "GET, HEAD");
      throw new ApiError("method_not_allowed");
    }
    next();
  });
  router.get("/console", (request, response, next) => {
    // Relative, so that it works behind a proxy that adds a prefix. The browser keeps the fragment with the sign-in code.
    if (request.path.endsWith("/")) next();
    else response.status(308).set("Location", "console/").end();
  });
  router.use("/console", express.static(BUILT, { cacheControl: false, redirect: false, setHeaders }));
  return router;
}

function setHeaders(response: Response, path: string): void {
  response.setHeader("Content-Security-Policy", POLICY);
  // The names of the assets contain a hash of their content. The page is new after each update of the service.
  const isAsset = /[\\/]assets[\\/][^\\/]+$/.test(path);
  response.setHeader("Cache-Control", isAsset ? "public, max-age=31536000, immutable" : "no-cache");
}
