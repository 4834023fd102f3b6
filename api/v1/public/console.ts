import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import express, { type Response, Router } from "express";

import type { HttpDeps } from "../deps.ts";
import { refuseMethod } from "../errors.ts";
import { pagePolicy } from "./html.ts";

const BUILT = fileURLToPath(new URL("../../../console/built", import.meta.url));

/**
 * Scripts and styles come from this service alone. Pictures and videos may be anywhere: tokens name them. As pictures, SVG
 * files run no script. The console sets styles only through the DOM, so it needs no inline styles.
 */
const POLICY = pagePolicy(
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' https: data: blob:",
  "media-src 'self' https: data: blob:",
);

/** Where the page finds the beginning of commands. */
const CLI = '<meta name="moneta-cli" content="" />';

/** `/console/`: the web page of the service. `npm run update -- console` builds its files. */
export function consolePages(deps: HttpDeps): Router {
  const router = Router();
  const page = consoleHtml(deps);
  router.use("/console", (request, response, next) => {
    if (request.method !== "GET" && request.method !== "HEAD") {
      refuseMethod(response, "GET, HEAD");
    }
    next();
  });
  router.get(["/console", "/console/index.html"], (request, response) => {
    // Relative, so that it works behind a proxy that adds a prefix. The browser keeps the fragment with the sign-in code.
    if (request.path === "/console") response.status(308).set("Location", "console/").end();
    else response.set(pageHeaders("index.html")).type("html").send(page);
  });
  router.use("/console", express.static(BUILT, { cacheControl: false, index: false, redirect: false, setHeaders }));
  return router;
}

/** The page, with the beginning of commands that work on this machine. */
function consoleHtml({ localCli }: HttpDeps): string {
  const html = readFileSync(join(BUILT, "index.html"), "utf8");
  const cli = (localCli ?? "").replace(/[&"<>]/g, (character) => `&#${character.charCodeAt(0).toString()};`);
  return html.replace(CLI, () => CLI.replace('""', () => `"${cli}"`));
}

function setHeaders(response: Response, path: string): void {
  response.set(pageHeaders(path));
}

function pageHeaders(path: string): Record<string, string> {
  // The names of the assets contain a hash of their content. The page is new after each update of the service.
  const isAsset = /[\\/]assets[\\/][^\\/]+$/.test(path);
  return {
    "Content-Security-Policy": POLICY,
    "Cache-Control": isAsset ? "public, max-age=31536000, immutable" : "no-cache",
  };
}
